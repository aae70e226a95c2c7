import json
import psycopg2
from confluent_kafka import Consumer

consumer = Consumer({"bootstrap.servers": "b:9092", "group.id": "orders", "enable.auto.commit": False})
consumer.subscribe(["orders"])
conn = psycopg2.connect("dbname=shop")

while True:
    message = consumer.poll(1.0)
    if message is None or message.error():
        continue
    order = json.loads(message.value())
    with conn, conn.cursor() as cur:
        cur.execute(
            "INSERT INTO orders (id, total) VALUES (%s, %s) ON CONFLICT (id) DO NOTHING", (order["id"], order["total"])
        )
    consumer.commit(message)
