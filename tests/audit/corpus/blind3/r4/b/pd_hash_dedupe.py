import pandas as pd
from sqlalchemy import create_engine, text

engine = create_engine("postgresql://x/y")


def load(df: pd.DataFrame):
    df.to_sql("stg_orders", engine, if_exists="replace", index=False)
    with engine.begin() as c:
        c.execute(text("""
            INSERT INTO orders (id, amount)
            SELECT id, amount FROM stg_orders
            ON CONFLICT (id) DO UPDATE SET amount = EXCLUDED.amount
        """))
        c.execute(text("DROP TABLE stg_orders"))