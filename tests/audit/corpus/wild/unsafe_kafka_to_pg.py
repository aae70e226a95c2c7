from kafka import KafkaConsumer
import json, psycopg2
consumer = KafkaConsumer("events", bootstrap_servers="x", auto_offset_reset="earliest", group_id="g")
conn = psycopg2.connect("")
cur = conn.cursor()
for msg in consumer:
    d = json.loads(msg.value)
    cur.execute("INSERT INTO events (user_id, type, ts) VALUES (%s, %s, %s)", (d["u"], d["t"], d["ts"]))  # expect: SW103
    conn.commit()
