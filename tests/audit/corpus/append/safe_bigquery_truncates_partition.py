from google.cloud import bigquery

client = bigquery.Client()


def load(uri: str, day: str) -> None:
    config = bigquery.LoadJobConfig(
        source_format=bigquery.SourceFormat.PARQUET,
        write_disposition=bigquery.WriteDisposition.WRITE_TRUNCATE,
    )
    client.load_table_from_uri(uri, f"shop.orders${day}", job_config=config).result()
