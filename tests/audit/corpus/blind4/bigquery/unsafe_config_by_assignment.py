from google.cloud import bigquery


def add_rates(frame):
    client = bigquery.Client()
    settings = bigquery.LoadJobConfig()
    settings.write_disposition = "WRITE_APPEND"
    # expect: SW101
    client.load_table_from_dataframe(frame, "fin.core.rates", job_config=settings).result()
