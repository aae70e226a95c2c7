import requests

QUERY = "query ($id: ID!) { user(id: $id) { name } }"


def user(id):
    return requests.post("https://api.example.com/graphql", json={"query": QUERY, "variables": {"id": id}}).json()


def embed(texts):
    return requests.post("https://api.llm.example.com/v1/embeddings", json={"model": "small", "input": texts}).json()


def chat(prompt):
    body = {"model": "big", "messages": [{"role": "user", "content": prompt}]}
    return requests.post("https://api.llm.example.com/v1/chat/completions", json=body).json()
