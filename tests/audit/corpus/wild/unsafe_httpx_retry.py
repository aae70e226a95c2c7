import httpx
client = httpx.Client(base_url="https://api.x.com")
def create(order):
    for attempt in range(3):
        try:
            return client.post("/orders", json={"sku": order.sku, "qty": order.qty})  # expect: SW601
        except httpx.TransportError:
            continue
