"""What Samewise remembers between runs, in SQLite or PostgreSQL: written by SQLAlchemy Core, read in plain SQL too.

One file a record kind, each a handful of functions that take a `Store`. Every write to a run's rows
happens in a transaction that first makes sure that the lease is still ours (`fence.fenced`).
"""
