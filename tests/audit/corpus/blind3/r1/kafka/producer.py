from confluent_kafka import Producer
from celery import shared_task

p = Producer({"bootstrap.servers": "k:9092", "enable.idempotence": True, "acks": "all"})
q = Producer({"bootstrap.servers": "k:9092"})


@shared_task(bind=True, max_retries=5)
def publish(self, order):
    p.produce("orders", key=str(order["id"]), value=order["body"])
    p.flush()


@shared_task(bind=True, autoretry_for=(Exception,), max_retries=5)
def publish_raw(self, body):
    q.produce("raw", body)  # expect: SW602
    q.flush()