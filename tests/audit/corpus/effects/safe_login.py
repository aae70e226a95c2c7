import requests


def token():
    response = requests.post("https://auth.example.org/oauth/token", data={"grant_type": "client_credentials"})
    return response.json()["access_token"]
