import requests
from airflow.decorators import task
@task(retries=2)
def notify_partner(orders: list):
    url = "https://partner.example.com/api/shipments"
    for o in orders:
        resp = requests.post(url, json={"order": o["id"], "address": o["addr"]}, timeout=10)  # expect: SW601
        resp.raise_for_status()
