INSERT INTO fct_orders (order_id, amount, updated_at)
SELECT order_id, amount, updated_at
FROM src_orders
WHERE updated_at > (SELECT COALESCE(MAX(updated_at), '1900-01-01') FROM fct_orders);
