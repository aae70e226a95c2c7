import requests
from tenacity import retry


@retry
def charge(order):
    requests.post(
        "https://api.pay.example/v1/charges",
        json={"amount": order["amount"]},
        headers={"Idempotency-Key": order["order_id"]},
    )
