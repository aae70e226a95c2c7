import json
import time

import psycopg
from confluent_kafka import Producer

producer = Producer({"bootstrap.servers": "k", "enable.idempotence": True})


def drain(conn):
    with conn.transaction():
        rows = conn.execute("SELECT id, topic, key, body FROM outbox WHERE sent_at IS NULL ORDER BY id LIMIT 100 FOR UPDATE SKIP LOCKED").fetchall()
        for id_, topic, key, body in rows:
            producer.produce(topic, key=key, value=json.dumps(body))
        producer.flush()
        conn.execute("UPDATE outbox SET sent_at = now() WHERE id = ANY(%s)", ([r[0] for r in rows],))
    return len(rows)


def main():
    with psycopg.connect("dbname=app", autocommit=True) as conn:
        while True:
            if not drain(conn):
                time.sleep(1)


main()