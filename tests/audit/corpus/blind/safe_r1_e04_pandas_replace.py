import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mysql+pymysql://etl@db/report")
sales = pd.read_excel("sales.xlsx")
top = sales.groupby("region", as_index=False)["amount"].sum()
top.to_sql("sales_by_region", engine, if_exists="replace", index=False)
