import requests

WEBHOOK = "https://hooks.slack.com/services/T0/B0/x"


def on_failure(context):
    requests.post(WEBHOOK, json={"text": "failed"})
