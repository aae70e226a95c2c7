import pandas as pd
import snowflake.connector
from snowflake.connector.pandas_tools import write_pandas

conn = snowflake.connector.connect(account="x", user="etl")
df = pd.read_csv("spend.csv")
success, chunks, rows, _ = write_pandas(conn, df, "AD_SPEND", schema="RAW", auto_create_table=True, overwrite=True)
print(rows)
