import requests
from tenacity import retry, stop_after_attempt


@retry(stop=stop_after_attempt(5))
def fetch(page):
    response = requests.get("https://api.example.com/items", params={"page": page}, timeout=10)
    response.raise_for_status()
    return response.json()
