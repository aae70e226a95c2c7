import csv
from django.core.management.base import BaseCommand
from django.db import transaction
from stores.models import Store, OpeningHour


class Command(BaseCommand):
    help = "Import stores from CSV"

    def add_arguments(self, parser):
        parser.add_argument("path")

    @transaction.atomic
    def handle(self, *args, **opts):
        n = 0
        with open(opts["path"]) as f:
            for row in csv.DictReader(f):
                store, created = Store.objects.update_or_create(code=row["code"], defaults={"name": row["name"]})
                OpeningHour.objects.filter(store=store).delete()
                OpeningHour.objects.bulk_create(OpeningHour(store=store, day=d, opens=row[f"open_{d}"]) for d in range(7))  # expect: SW103 note
                n += created
        self.stdout.write(f"{n} new")