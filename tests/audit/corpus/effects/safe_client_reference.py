import requests


def order(rows):
    for row in rows:
        requests.post("https://broker.example.org/v1/orders", json={"client_reference": row.id, "qty": row.qty})
