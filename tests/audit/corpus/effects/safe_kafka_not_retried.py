from kafka import KafkaProducer

producer = KafkaProducer(bootstrap_servers="b:9092")


def emit(event):
    producer.send("events", event)
