import pandas as pd
from google.cloud import bigquery
def run(df, day):
    client = bigquery.Client()
    client.query(f"DELETE FROM d.t WHERE day = '{day}'").result()  # expect: SW201
    client.load_table_from_dataframe(df, "d.t", job_config=bigquery.LoadJobConfig(write_disposition="WRITE_APPEND")).result()
