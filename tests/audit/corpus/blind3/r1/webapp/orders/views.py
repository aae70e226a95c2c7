from django.http import JsonResponse
from django.db import transaction
from .models import Order, OrderLine
from django.views.decorators.http import require_POST


@require_POST
def create_order(request):
    data = request.json
    with transaction.atomic():
        order = Order.objects.create(customer_id=data["customer"], note=data.get("note", ""))
        OrderLine.objects.bulk_create([OrderLine(order=order, sku=l["sku"], qty=l["qty"]) for l in data["lines"]])
    return JsonResponse({"id": order.pk}, status=201)


def delete_order(request, pk):
    Order.objects.filter(pk=pk).delete()
    return JsonResponse({})