from airflow.decorators import dag, task
from datetime import datetime, timezone
import json
import boto3


@dag(schedule="@daily", start_date=datetime(2024, 1, 1), catchup=False)
def exports():
    @task
    def manifest(ds=None):
        body = {"ds": ds, "generated_at": datetime.now(timezone.utc).isoformat()}
        boto3.client("s3").put_object(Bucket="b", Key=f"m/{ds}.json", Body=json.dumps(body))

    @task(retries=2)
    def slack(ds=None):
        import requests
        requests.post("https://hooks.slack.com/services/x", json={"text": f"done {ds}"})

    @task(retries=2)
    def trigger(ds=None):
        import requests
        requests.post("https://ci.test/api/orders", json={"day": ds, "total": 3})  # expect: SW601

    manifest() >> slack() >> trigger()


exports()