import pandas as pd
from sqlalchemy import create_engine

ENGINE = create_engine("postgresql:///dw")


def put(frame, table):
    frame.to_sql(table, ENGINE, if_exists="append", index=False)  # expect: SW101


put(pd.read_csv("visits.csv"), "visits")
