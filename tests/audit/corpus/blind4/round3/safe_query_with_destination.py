from google.cloud import bigquery


def put_day(client: bigquery.Client, day: str):
    config = bigquery.QueryJobConfig(destination=f"shop.core.visits${day}", write_disposition="WRITE_TRUNCATE")
    client.query(f"SELECT * FROM landing.visits WHERE day = '{day}'", job_config=config).result()
