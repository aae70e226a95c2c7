INSERT INTO mart.orders (order_id, amount)
SELECT order_id, amount FROM src_orders
WHERE updated_at >= now() - interval '1 day' -- expect: SW401
ON CONFLICT (order_id) DO UPDATE SET amount = EXCLUDED.amount;
