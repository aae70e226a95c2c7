import requests

def classify(texts):
    out = []
    for t in texts:
        r = requests.post("http://model:8080/v1/models/m:predict", json={"instances": [t]})
        out.append(r.json())
    return out
