import csv
from django.core.management.base import BaseCommand
from catalog.models import Product


class Command(BaseCommand):
    help = "Import products from a file"

    def add_arguments(self, parser):
        parser.add_argument("path")

    def handle(self, *args, **options):
        with open(options["path"]) as handle:
            # expect: SW103 note
            Product.objects.bulk_create(Product(name=r["name"], price=r["price"]) for r in csv.DictReader(handle))
