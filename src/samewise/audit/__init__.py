"""Finds what is not safe to retry in code that people already have. Needs no Spark, and runs nothing that it reads."""
