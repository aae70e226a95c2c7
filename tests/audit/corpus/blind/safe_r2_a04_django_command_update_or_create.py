import csv
from django.core.management.base import BaseCommand
from catalog.models import Product


class Command(BaseCommand):
    def handle(self, *args, **options):
        with open("products.csv") as handle:
            for row in csv.DictReader(handle):
                Product.objects.update_or_create(sku=row["sku"], defaults={"name": row["name"]})
        Product.objects.bulk_create([Product(sku="x")], ignore_conflicts=True)
