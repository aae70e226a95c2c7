import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry
s = requests.Session()
s.mount("https://", HTTPAdapter(max_retries=Retry(total=3, allowed_methods=["POST", "GET"])))
def pay(p):
    s.post("https://bank.example/transfers", json=p)  # expect: SW601 note
