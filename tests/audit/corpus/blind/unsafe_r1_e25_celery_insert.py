import psycopg2
from celery import Celery

app = Celery("jobs", broker="redis://localhost")


# expect: SW501
@app.task(bind=True, autoretry_for=(Exception,), retry_backoff=True, max_retries=5)
def import_prices(self, url):
    rows = download(url)
    conn = psycopg2.connect("dbname=prices")
    with conn, conn.cursor() as cur:
        for row in rows:
            # expect: SW103
            cur.execute("INSERT INTO price (isin, at, value) VALUES (%s, %s, %s)", row)


def download(url):
    import requests

    return [tuple(line.split(",")) for line in requests.get(url, timeout=20).text.splitlines()]
