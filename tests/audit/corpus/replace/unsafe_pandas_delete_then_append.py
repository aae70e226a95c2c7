import pandas as pd
from sqlalchemy import create_engine, text

engine = create_engine("postgresql://db/dw")


def load(df: pd.DataFrame, day: str) -> None:
    with engine.begin() as conn:
        conn.execute(text(f"DELETE FROM sales WHERE day = '{day}'"))  # expect: SW201
    df.to_sql("sales", engine, if_exists="append", index=False)
