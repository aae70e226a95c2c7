from clickhouse_driver import Client
from datetime import date

ch = Client("localhost")


def sync(day: date, rows):
    ch.execute("ALTER TABLE hits DROP PARTITION %(d)s", {"d": day.isoformat()})
    ch.execute("INSERT INTO hits (day, url, n) VALUES", rows)  # expect: SW201