import requests


class Client:
    def __init__(self, base, token):
        self.s = requests.Session()
        self.s.headers["Authorization"] = f"Bearer {token}"
        self.base = base

    def search(self, q):
        return self.s.post(f"{self.base}/_search", json={"query": {"match": {"t": q}}}).json()

    def graphql(self, query, variables=None):
        r = self.s.post(f"{self.base}/graphql", json={"query": query, "variables": variables or {}})
        r.raise_for_status()
        return r.json()["data"]

    def login(self, user, password):
        r = requests.post(f"{self.base}/oauth/token", data={"grant_type": "password", "username": user, "password": password})
        return r.json()["access_token"]

    def slack(self, text):
        requests.post("https://hooks.slack.com/services/T/B/X", json={"text": text})