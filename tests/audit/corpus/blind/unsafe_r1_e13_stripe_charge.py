import csv
import requests

API = "https://api.payments.example.com/v1/charges"


def charge_all(path):
    with open(path) as handle:
        for row in csv.DictReader(handle):
            # expect: SW601
            response = requests.post(API, json={"customer": row["customer"], "amount": row["amount"]}, timeout=10)
            response.raise_for_status()


charge_all("due.csv")
