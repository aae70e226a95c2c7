"""Bytes and logs: files wherever they lie, and a Delta table's log. Knows no pipeline."""
