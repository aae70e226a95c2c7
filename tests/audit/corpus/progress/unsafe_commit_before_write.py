from confluent_kafka import Consumer


def consume(conn):
    consumer = Consumer({"bootstrap.servers": "b", "group.id": "g"})
    while True:
        msg = consumer.poll(1.0)
        consumer.commit(msg)  # expect: SW403
        with conn.cursor() as cur:
            cur.execute("INSERT INTO orders (id, body) VALUES (%s, %s) ON CONFLICT (id) DO NOTHING", (msg.key(), msg.value()))
        conn.commit()
