import boto3
import json


def handler(event, context):
    s3 = boto3.client("s3")
    day = event["time"][:10]
    s3.put_object(Bucket="lake", Key=f"rates/{day}.json", Body=json.dumps(event["detail"]))
