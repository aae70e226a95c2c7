"""Pure functions that decide: windows, the next step, drift, SQL. No I/O, no clock, no Spark."""
