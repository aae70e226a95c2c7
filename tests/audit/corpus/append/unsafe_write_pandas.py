import snowflake.connector
from snowflake.connector.pandas_tools import write_pandas


def push(df):
    conn = snowflake.connector.connect(account="x", user="etl")
    write_pandas(conn, df, "ORDERS", auto_create_table=False)  # expect: SW101
