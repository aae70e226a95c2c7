INSERT INTO mart.orders (order_id, amount, loaded_at)
SELECT order_id, amount, CURRENT_TIMESTAMP FROM raw_orders WHERE batch_date = '2024-05-01'
ON CONFLICT (order_id) DO UPDATE SET amount = EXCLUDED.amount, loaded_at = EXCLUDED.loaded_at;
