CREATE OR REPLACE TABLE mart.top_customers AS
SELECT customer_id, SUM(amount) AS total
FROM fct_orders
GROUP BY customer_id;
