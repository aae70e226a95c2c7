ALTER TABLE orders ADD COLUMN status text;
UPDATE orders SET status = 'done' WHERE shipped_at IS NOT NULL;
INSERT INTO order_status_history (order_id, status, at) SELECT id, status, shipped_at FROM orders WHERE status IS NOT NULL;
