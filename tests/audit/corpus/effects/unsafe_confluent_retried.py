from confluent_kafka import Producer
from tenacity import retry


@retry
def publish(rows):
    producer = Producer({"bootstrap.servers": "b:9092", "linger.ms": 5})
    for row in rows:
        producer.produce("orders", value=row)  # expect: SW602
    producer.flush()
