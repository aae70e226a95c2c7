"""The two-run test, grown up: run it again in every way that production will, and compare with one clean run."""
