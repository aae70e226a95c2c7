from google.cloud import bigquery


def refresh_rates(frame):
    client = bigquery.Client()
    settings = bigquery.LoadJobConfig()
    settings.source_format = bigquery.SourceFormat.PARQUET
    settings.write_disposition = bigquery.WriteDisposition.WRITE_TRUNCATE
    client.load_table_from_dataframe(frame, "fin.core.rates", job_config=settings).result()
