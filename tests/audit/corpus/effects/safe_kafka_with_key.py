from airflow.decorators import task
from kafka import KafkaProducer


@task(retries=3)
def publish(rows):
    producer = KafkaProducer(bootstrap_servers="b:9092")
    for row in rows:
        producer.send("orders", key=row["id"].encode(), value=row["body"])
    producer.flush()
