import pandas as pd
from sqlalchemy import create_engine, text


def upsert(df: pd.DataFrame, url: str) -> None:
    engine = create_engine(url)
    with engine.begin() as conn:
        df.to_sql("stg_customers", conn, if_exists="replace", index=False)
        conn.execute(
            text(
                """
                INSERT INTO customers (customer_id, name, email)
                SELECT customer_id, name, email FROM stg_customers
                ON CONFLICT (customer_id) DO UPDATE SET name = EXCLUDED.name, email = EXCLUDED.email
                """
            )
        )
