from google.cloud import bigquery


def push(frame, disposition):
    client = bigquery.Client()
    settings = bigquery.LoadJobConfig(write_disposition=disposition)
    client.load_table_from_dataframe(frame, "fin.core.rates", job_config=settings).result()  # expect: SW101 note
