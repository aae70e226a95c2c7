import uuid

import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("postgresql://db/dw")


def load(path):
    df = pd.read_csv(path)
    df["order_id"] = [str(uuid.uuid4()) for _ in range(len(df))]  # expect: SW302
    df.to_sql("orders", engine, if_exists="append", index=False)  # expect: SW101
