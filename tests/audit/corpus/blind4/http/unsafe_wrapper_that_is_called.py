import requests


class Ledger:
    def book(self, amount):
        # expect: SW601
        return requests.post("https://ledger.example.org/v1/entries", json={"amount": amount})


for entry in open("entries.txt"):
    Ledger().book(float(entry))
