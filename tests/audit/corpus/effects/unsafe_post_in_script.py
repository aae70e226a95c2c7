import csv

import requests

API = "https://crm.example.org/api/v1"


def push(path):
    with open(path) as f:
        for row in csv.DictReader(f):
            requests.post(f"{API}/contacts", json={"name": row["name"]})  # expect: SW601
