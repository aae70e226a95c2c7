from google.cloud import bigquery

client = bigquery.Client()
config = bigquery.LoadJobConfig(
    source_format=bigquery.SourceFormat.PARQUET,
    write_disposition=bigquery.WriteDisposition.WRITE_TRUNCATE,
)
job = client.load_table_from_uri("gs://lake/orders/2024-05-01/*", "shop.raw.orders$20240501", job_config=config)
job.result()
