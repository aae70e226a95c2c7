from google.cloud import bigquery


def add_day(client: bigquery.Client, day: str):
    config = bigquery.QueryJobConfig(destination="shop.core.visits", write_disposition="WRITE_APPEND")
    # expect: SW101
    client.query(f"SELECT * FROM landing.visits WHERE day = '{day}'", job_config=config).result()
