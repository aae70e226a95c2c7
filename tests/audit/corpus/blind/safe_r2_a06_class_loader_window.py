import pandas as pd
from sqlalchemy import create_engine, text


class WindowLoader:
    def __init__(self, url):
        self.engine = create_engine(url)

    def replace_day(self, frame: pd.DataFrame, table: str, day: str) -> None:
        with self.engine.begin() as conn:
            conn.execute(text(f"DELETE FROM {table} WHERE day = :day"), {"day": day})
            frame.to_sql(table, conn, if_exists="append", index=False)


WindowLoader("postgresql://db/dwh").replace_day(pd.read_csv("2024-05-01.csv"), "visits", "2024-05-01")
