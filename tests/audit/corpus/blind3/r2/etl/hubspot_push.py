"""Push daily deals to the CRM. Run by cron; wraps every call in retries."""
import logging
import time

import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

log = logging.getLogger(__name__)


class CrmError(Exception):
    pass


def session():
    s = requests.Session()
    s.mount("https://", HTTPAdapter(max_retries=Retry(total=5, backoff_factor=0.5, status_forcelist=[502, 503])))
    return s


def with_retries(fn, n=5):
    for attempt in range(n):
        try:
            return fn()
        except CrmError:
            time.sleep(2 ** attempt)
    raise CrmError("gave up")


def create_deal(s, deal):
    for attempt in range(5):
        try:
            r = s.post("https://crm.test/v3/deals", json={"properties": deal})  # expect: SW601
            r.raise_for_status()
            return r.json()["id"]
        except requests.HTTPError:
            log.warning("attempt %s", attempt)
            time.sleep(2 ** attempt)


def update_deal(s, deal_id, deal):
    for attempt in range(5):
        try:
            return s.patch(f"https://crm.test/v3/deals/{deal_id}", json={"properties": deal})
        except requests.ConnectionError:
            time.sleep(1)