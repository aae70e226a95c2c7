BEGIN;
DELETE FROM orders USING cancelled c WHERE orders.order_id = c.order_id;
COMMIT;
