TRUNCATE TABLE wrk_customer_totals;
INSERT INTO wrk_customer_totals SELECT customer_id, SUM(amount) FROM orders GROUP BY customer_id;
MERGE INTO dim_customer d
USING (SELECT customer_id, MAX(total) AS total FROM wrk_customer_totals GROUP BY customer_id) w
ON d.customer_id = w.customer_id
WHEN MATCHED THEN UPDATE SET d.total = w.total;
