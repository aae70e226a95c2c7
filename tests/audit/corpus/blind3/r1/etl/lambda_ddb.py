import boto3
import os

table = boto3.resource("dynamodb").Table(os.environ["TABLE"])


def handler(event, ctx):
    with table.batch_writer() as b:
        for r in event["Records"]:
            b.put_item(Item={"pk": r["messageId"], "body": r["body"]})