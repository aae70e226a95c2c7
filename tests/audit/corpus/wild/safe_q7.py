import boto3
def send(records):
    k = boto3.client("kinesis")
    for r in records:
        k.put_record(StreamName="s", Data=r, PartitionKey="x")
