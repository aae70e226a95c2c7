from prometheus_client import CollectorRegistry, Gauge, push_to_gateway
import requests

reg = CollectorRegistry()
Gauge("rows", "n", registry=reg).set(3)
push_to_gateway("gw:9091", job="etl", registry=reg)
requests.post("http://influx:8086/write?db=m", data="rows value=3")
requests.post("http://es:9200/_bulk", data="{}", headers={"Content-Type": "application/x-ndjson"})