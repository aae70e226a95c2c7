import json
import os

import httpx
import requests
from tenacity import retry, wait_exponential

BASE = os.getenv("LLM_URL", "https://llm.test/v1")


@retry(wait=wait_exponential())
def chat(messages):
    r = requests.post(f"{BASE}/chat/completions", json={"model": "m", "messages": messages}, timeout=60)
    r.raise_for_status()
    return r.json()["choices"][0]["message"]["content"]


@retry(wait=wait_exponential())
def embed(texts):
    with httpx.Client(timeout=30) as c:
        return c.post(f"{BASE}/embeddings", json={"input": texts}).json()["data"]


@retry(wait=wait_exponential())
def predict(features):
    return requests.post("http://model:8080/predict", data=json.dumps(features)).json()


@retry(wait=wait_exponential())
def sparql(q):
    return requests.post("https://query.test/sparql", data={"query": q}).json()


@retry(wait=wait_exponential())
def report_ids(filters):
    return requests.post("https://crm.test/api/contacts/search", json=filters).json()