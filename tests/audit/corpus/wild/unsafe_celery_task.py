from celery import shared_task
import requests

@shared_task(bind=True, autoretry_for=(Exception,), max_retries=5)
def send_invoice(self, invoice_id):
    requests.post("https://api.billing.com/v1/invoices", json={"id": invoice_id, "amount": 5})  # expect: SW601
