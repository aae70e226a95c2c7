import requests

def upload(path):
    with open(path, "rb") as f:
        return requests.post("https://files.example.com/upload", files={"file": f})  # expect: SW601 note
