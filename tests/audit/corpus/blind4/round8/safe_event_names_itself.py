import requests
from celery import shared_task


@shared_task(bind=True, max_retries=3)
def tell(self, event_id, name):
    body = {"data": [{"event_name": name, "event_id": event_id}]}
    requests.post("https://events.example.org/v1/events", json=body, timeout=10).raise_for_status()
