INSERT INTO mart.orders (order_id, amount)
SELECT order_id, amount FROM raw_orders
WHERE updated_at >= :window_start AND updated_at < :window_end
ON CONFLICT (order_id) DO UPDATE SET amount = EXCLUDED.amount;
