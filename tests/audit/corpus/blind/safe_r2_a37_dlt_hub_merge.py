import dlt
from dlt.sources.helpers import requests


@dlt.resource(write_disposition="merge", primary_key="id")
def issues(updated=dlt.sources.incremental("updated_at", initial_value="2024-01-01T00:00:00Z")):
    yield requests.get("https://api.example.com/issues", params={"since": updated.last_value}).json()


pipeline = dlt.pipeline("issues", destination="duckdb", dataset_name="tracker")
pipeline.run(issues())
