from celery import shared_task
from django.db import transaction
from shop.models import Order


@shared_task(bind=True, autoretry_for=(ConnectionError,), max_retries=5, acks_late=True)
def confirm(self, order_id):
    with transaction.atomic():
        order = Order.objects.select_for_update().get(pk=order_id)
        if order.confirmed:
            return
        order.confirmed = True
        order.save(update_fields=["confirmed"])
