CREATE TEMPORARY TABLE latest AS
SELECT order_id, MAX(updated_at) AS updated_at FROM raw_orders GROUP BY order_id;
MERGE INTO orders o USING latest l ON o.order_id = l.order_id
WHEN MATCHED THEN UPDATE SET updated_at = l.updated_at;
