import boto3

athena = boto3.client("athena")


def run(day):
    boto3.resource("s3").Bucket("lake").objects.filter(Prefix=f"mart/visits/day={day}/").delete()
    # expect: SW102 note
    athena.start_query_execution(QueryString=f"INSERT INTO mart.visits SELECT * FROM core.visits WHERE day = '{day}'")
