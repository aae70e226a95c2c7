BEGIN;
INSERT INTO orders_archive SELECT * FROM orders WHERE closed_at < '2023-01-01';
DELETE FROM orders WHERE closed_at < '2023-01-01';
COMMIT;