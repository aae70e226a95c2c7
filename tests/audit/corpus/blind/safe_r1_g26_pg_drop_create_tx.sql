BEGIN;
DROP TABLE IF EXISTS report.top_customers;
CREATE TABLE report.top_customers AS
SELECT customer_id, sum(amount) AS total FROM sales.orders GROUP BY customer_id ORDER BY total DESC, customer_id LIMIT 100;
CREATE INDEX ON report.top_customers (customer_id);
COMMIT;
