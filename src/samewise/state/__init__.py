"""What Samewise remembers between runs: SQLAlchemy Core on SQLite or PostgreSQL.

One file a record kind, each a handful of functions that take a `Store`. Every write to a run's rows
happens in a transaction that first makes sure that the lease is still ours (`fence.fenced`).
"""
