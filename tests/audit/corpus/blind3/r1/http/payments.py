import uuid

import requests
from tenacity import retry, stop_after_attempt


@retry(stop=stop_after_attempt(4))
def charge(order):
    return requests.post(
        "https://pay.test/v1/charges",
        json={"amount": order.amount, "customer": order.customer},
        headers={"Idempotency-Key": f"order-{order.id}"},
        timeout=10,
    )


@retry(stop=stop_after_attempt(4))
def refund(order):
    return requests.post("https://pay.test/v1/refunds", json={"charge": order.charge_id}, timeout=10)  # expect: SW601