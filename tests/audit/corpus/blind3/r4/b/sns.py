import boto3
import json

sns = boto3.client("sns")
ddb = boto3.client("dynamodb")


def handler(event, ctx):
    for r in event["Records"]:
        try:
            ddb.put_item(TableName="seen", Item={"id": {"S": r["messageId"]}}, ConditionExpression="attribute_not_exists(id)")
        except ddb.exceptions.ConditionalCheckFailedException:
            continue
        sns.publish(TopicArn="t", Message=json.dumps(r))