import requests


class Workspace:
    def __init__(self, host, header):
        self.host = host
        self.header = header

    def submit(self, job):
        return requests.post(f"https://{self.host}/api/jobs/submit", headers=self.header, json={"job": job})  # expect: SW601 note

    def stop(self, run_id):
        requests.post(f"https://{self.host}/api/jobs/stop", headers=self.header, json={"run": run_id})

    def score(self, rows):
        return requests.post(f"https://{self.host}/serving-endpoints/churn", json={"instances": rows})
