INSERT INTO mart.recent_orders (order_id, amount)
SELECT order_id, amount FROM core.orders WHERE created_at >= now() - interval '1 day'  -- expect: SW401
ON CONFLICT (order_id) DO NOTHING;