INSERT INTO order_totals (order_id, total)
SELECT order_id, SUM(price) FROM order_items GROUP BY order_id;
