import httpx
from prefect import flow, task


@task(retries=5)
def create_invoice(order: dict) -> None:
    with httpx.Client(base_url="https://erp.example.com") as client:
        # expect: SW601
        client.post("/invoices", json={"customer": order["customer"], "total": order["total"]}).raise_for_status()


@flow
def bill(orders: list[dict]):
    for order in orders:
        create_invoice(order)
