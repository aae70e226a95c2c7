from fastapi import FastAPI
import psycopg2

app = FastAPI()


@app.post("/orders")
def create_order(order: dict):
    with psycopg2.connect("dbname=shop") as conn, conn.cursor() as cur:
        cur.execute("INSERT INTO orders (customer_id, total) VALUES (%s, %s)", (order["customer"], order["total"]))
    return {"ok": True}
