import pandas as pd
from sqlalchemy import create_engine, inspect
engine = create_engine("x")
def load(df):
    if not inspect(engine).has_table("t"):
        df.to_sql("t", engine, if_exists="append")  # expect: SW101 note
    else:
        old = pd.read_sql_table("t", engine)
        merged = pd.concat([old, df]).drop_duplicates("id")
        merged.to_sql("t", engine, if_exists="replace")
