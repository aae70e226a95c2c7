import requests
from airflow.decorators import dag, task


@dag(schedule="@daily")
def invoices():
    @task(retries=3)
    def send(rows):
        for row in rows:
            requests.post("https://billing.example.org/api/invoices", json=row)  # expect: SW601

    send([])


invoices()
