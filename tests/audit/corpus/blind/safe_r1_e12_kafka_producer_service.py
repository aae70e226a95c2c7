import json
from fastapi import FastAPI
from kafka import KafkaProducer

app = FastAPI()
producer = KafkaProducer(bootstrap_servers="broker:9092", value_serializer=lambda v: json.dumps(v).encode())


@app.post("/clicks")
async def click(event: dict):
    producer.send("clicks", event)
    return {"ok": True}
