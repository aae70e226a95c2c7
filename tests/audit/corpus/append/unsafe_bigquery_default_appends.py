from google.cloud import bigquery


def load(df):
    client = bigquery.Client()
    job = client.load_table_from_dataframe(df, "shop.events")  # expect: SW101
    job.result()
