from datetime import date, timedelta

import pandas as pd
from sqlalchemy import create_engine

source = create_engine("mysql://db/shop")
target = create_engine("postgresql://db/dw")

yesterday = date.today() - timedelta(days=1)
df = pd.read_sql(f"SELECT * FROM orders WHERE order_date = '{yesterday}'", source)  # expect: SW401
df.to_sql("orders", target, if_exists="append", index=False)  # expect: SW101
