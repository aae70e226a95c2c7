import requests

answer = requests.post("http://localhost:8000/api/visits", json={"shop": 1})
print(answer.json())
