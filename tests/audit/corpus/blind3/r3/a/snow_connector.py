import os
import snowflake.connector
from snowflake.connector.pandas_tools import write_pandas


def conn():
    return snowflake.connector.connect(user=os.environ["U"], password=os.environ["P"], account="a")


def load(df, day):
    c = conn()
    cs = c.cursor()
    try:
        cs.execute("BEGIN")
        cs.execute("DELETE FROM FACT WHERE DAY = %s", (day,))  # expect: SW201
        write_pandas(c, df, "FACT")
        cs.execute("COMMIT")
    except Exception:
        cs.execute("ROLLBACK")
        raise
    finally:
        cs.close()
        c.close()


def load_plain(df):
    write_pandas(conn(), df, "FACT_RAW")  # expect: SW101


def overwrite(df):
    write_pandas(conn(), df, "DIM", overwrite=True, auto_create_table=True)