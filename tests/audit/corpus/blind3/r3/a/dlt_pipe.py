import dlt
from dlt.sources.helpers import requests


@dlt.resource(write_disposition="merge", primary_key="id")
def issues(updated=dlt.sources.incremental("updated_at", initial_value="2020-01-01")):
    yield requests.get("https://api.test/issues", params={"since": updated.last_value}).json()


pipeline = dlt.pipeline("gh", destination="duckdb", dataset_name="gh")
print(pipeline.run(issues()))