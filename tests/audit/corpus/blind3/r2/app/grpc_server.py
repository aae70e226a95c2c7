import grpc
from concurrent import futures
from sqlalchemy import insert, delete, create_engine
from .tables import orders, order_items
import orders_pb2_grpc

engine = create_engine("postgresql+psycopg://app@db/app")


class Orders(orders_pb2_grpc.OrdersServicer):
    def Create(self, request, context):
        with engine.begin() as c:
            oid = c.execute(insert(orders).values(customer=request.customer).returning(orders.c.id)).scalar_one()
            c.execute(insert(order_items), [{"order_id": oid, "sku": i.sku} for i in request.items])
        return {"id": oid}

    def SetItems(self, request, context):
        with engine.begin() as c:
            c.execute(delete(order_items).where(order_items.c.order_id == request.id))
            c.execute(insert(order_items), [{"order_id": request.id, "sku": i.sku} for i in request.items])
        return {}


def serve():
    server = grpc.server(futures.ThreadPoolExecutor())
    orders_pb2_grpc.add_OrdersServicer_to_server(Orders(), server)
    server.start()
    server.wait_for_termination()