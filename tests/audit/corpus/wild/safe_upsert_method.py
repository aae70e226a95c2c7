import pandas as pd
from sqlalchemy import create_engine
from sqlalchemy.dialects.postgresql import insert


def postgres_upsert(table, conn, keys, data_iter):
    data = [dict(zip(keys, row)) for row in data_iter]
    stmt = insert(table.table).values(data)
    upsert = stmt.on_conflict_do_update(constraint=f"{table.table.name}_pkey", set_={c.key: c for c in stmt.excluded})
    conn.execute(upsert)


def load(df: pd.DataFrame):
    engine = create_engine("postgresql://x")
    df.to_sql("prices", engine, if_exists="append", index=False, method=postgres_upsert)
