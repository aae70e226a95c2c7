from django.db import connection, transaction
from django.http import JsonResponse
from django.views.decorators.http import require_POST

from .models import Order, OrderLine


@require_POST
@transaction.atomic
def checkout(request):
    order = Order.objects.create(user=request.user)
    OrderLine.objects.bulk_create([OrderLine(order=order, sku=sku) for sku in request.POST.getlist("sku")])
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO outbox (topic, payload) VALUES ('orders', %s)", [order.id])
    return JsonResponse({"id": order.id})
