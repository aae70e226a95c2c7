import hashlib
import requests
from tenacity import retry, stop_after_attempt


@retry(stop=stop_after_attempt(5))
def pay(invoice):
    key = hashlib.sha256(f"{invoice['id']}-{invoice['amount']}".encode()).hexdigest()
    headers = {"Authorization": "Bearer x"}
    headers["Idempotency-Key"] = key
    return requests.post("https://api.pay.example.com/charges", json=invoice, headers=headers, timeout=5)
