import time
import paho.mqtt.client as mqtt
import psycopg2

conn = psycopg2.connect(host="db", dbname="iot")
conn.autocommit = True


def on_message(client, userdata, msg):
    with conn.cursor() as cur:
        cur.execute("INSERT INTO readings (topic, value, at) VALUES (%s, %s, now())", (msg.topic, float(msg.payload)))


c = mqtt.Client()
c.on_message = on_message
c.connect("broker")
c.subscribe("sensors/#")
c.loop_forever()