import boto3
table = boto3.resource("dynamodb").Table("orders")
def handler(event, context):
    for r in event["Records"]:
        table.put_item(Item=r)
