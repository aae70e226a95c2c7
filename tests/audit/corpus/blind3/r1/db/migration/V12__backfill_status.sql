ALTER TABLE orders ADD COLUMN status text;
UPDATE orders SET status = 'done' WHERE shipped_at IS NOT NULL;
INSERT INTO order_status (code, label) VALUES ('done', 'Done'), ('open', 'Open');