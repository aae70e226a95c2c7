import base64
import json
import boto3
import psycopg2

sqs = boto3.client("sqs")


def handler(event, _):
    conn = psycopg2.connect("dbname=x")
    with conn, conn.cursor() as cur:
        for r in event["Records"]:
            d = json.loads(base64.b64decode(r["kinesis"]["data"]))
            cur.execute("INSERT INTO clicks (id, url) VALUES (%s, %s) ON CONFLICT (id) DO NOTHING", (d["id"], d["url"]))
    sqs.send_message(QueueUrl="q.fifo", MessageBody="done", MessageGroupId="g", MessageDeduplicationId=event["Records"][0]["eventID"])