from django.core.management.base import BaseCommand
from django.db import connection

class Command(BaseCommand):
    def handle(self, *a, **k):
        with connection.cursor() as c:
            c.execute("INSERT INTO stats_daily SELECT date, count(*) FROM visits GROUP BY date")  # expect: SW102
