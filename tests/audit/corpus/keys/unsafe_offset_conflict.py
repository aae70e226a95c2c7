import psycopg2


def store(messages):
    conn = psycopg2.connect("dbname=events")
    with conn, conn.cursor() as cur:
        for m in messages:
            # expect: SW306
            cur.execute(
                "INSERT INTO events (kafka_partition, kafka_offset, body) VALUES (%s, %s, %s)"
                " ON CONFLICT (kafka_partition, kafka_offset) DO NOTHING",
                (m.partition(), m.offset(), m.value()),
            )
