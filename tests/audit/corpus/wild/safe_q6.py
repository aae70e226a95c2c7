from django.core.management.base import BaseCommand
from shop.models import Product
class Command(BaseCommand):
    def handle(self, *args, **options):
        for row in read():
            Product.objects.update_or_create(sku=row["sku"], defaults=row)
