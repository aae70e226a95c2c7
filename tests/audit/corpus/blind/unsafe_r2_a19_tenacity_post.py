import requests
from tenacity import retry, stop_after_attempt, wait_exponential


@retry(stop=stop_after_attempt(5), wait=wait_exponential())
def create_shipment(order_id, address):
    # expect: SW601
    response = requests.post(
        "https://api.carrier.example.com/v2/shipments", json={"address": address, "weight": 2}, timeout=10
    )
    response.raise_for_status()
    return response.json()["tracking"]
