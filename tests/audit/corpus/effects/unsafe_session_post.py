import requests
from tenacity import retry, stop_after_attempt

session = requests.Session()


@retry(stop=stop_after_attempt(3))
def pay(amount):
    session.post("https://pay.example.org/payments", json={"amount": amount})  # expect: SW601
