from google.cloud import bigquery

client = bigquery.Client(project="shop")
job_config = bigquery.LoadJobConfig(write_disposition="WRITE_APPEND", autodetect=True)
client.load_table_from_uri("gs://shop/exports/*.json", "shop.raw.events", job_config=job_config)  # expect: SW101
