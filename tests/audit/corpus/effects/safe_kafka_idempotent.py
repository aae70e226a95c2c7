from airflow.decorators import task
from confluent_kafka import Producer


@task(retries=3)
def publish(rows):
    producer = Producer({"bootstrap.servers": "b:9092", "enable.idempotence": True})
    for row in rows:
        producer.produce("orders", row)
    producer.flush()
