from prefect import flow, task
import httpx
import pandas as pd
from sqlalchemy import create_engine


@task(retries=3, retry_delay_seconds=10)
def fetch(page: int) -> list[dict]:
    return httpx.get("https://api.test/items", params={"page": page}).json()


@task(retries=2)
def notify(total: int) -> None:
    httpx.post("https://payments.test/api/v1/payouts", json={"amount": total})  # expect: SW601


@task(retries=2)  # expect: SW501
def store(rows: list[dict]) -> None:
    engine = create_engine("postgresql://x/y")
    pd.DataFrame(rows).to_sql("items", engine, if_exists="append", index=False)  # expect: SW101


@flow
def items_flow(pages: int = 3):
    rows = [r for p in range(pages) for r in fetch(p)]
    store(rows)
    notify(len(rows))