from google.cloud import bigquery


def load(uri: str) -> None:
    client = bigquery.Client()
    config = bigquery.LoadJobConfig()
    config.source_format = bigquery.SourceFormat.CSV
    config.skip_leading_rows = 1
    config.write_disposition = "WRITE_APPEND"
    # expect: SW101
    client.load_table_from_uri(uri, "shop.raw.refunds", job_config=config).result()


load("gs://landing/refunds.csv")
