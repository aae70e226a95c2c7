import boto3
import time

athena = boto3.client("athena", region_name="eu-west-1")

QUERY = """
-- expect: SW102
INSERT INTO analytics.daily_users
SELECT date(ts) AS day, count(DISTINCT user_id)
FROM raw.events
WHERE date(ts) = date '{day}'
GROUP BY 1
"""


def handler(event, context):
    started = athena.start_query_execution(
        QueryString=QUERY.format(day=event["day"]),
        QueryExecutionContext={"Database": "analytics"},
        ResultConfiguration={"OutputLocation": "s3://athena-results/"},
    )
    return started["QueryExecutionId"]
