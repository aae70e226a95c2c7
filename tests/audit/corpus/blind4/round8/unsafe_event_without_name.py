import requests
from celery import shared_task


@shared_task(bind=True, max_retries=3)
def tell(self, name):
    body = {"data": [{"event_name": name}]}
    # expect: SW601
    requests.post("https://events.example.org/v1/events", json=body, timeout=10).raise_for_status()
