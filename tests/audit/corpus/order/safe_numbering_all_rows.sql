CREATE OR REPLACE TABLE report AS
SELECT ROW_NUMBER() OVER (ORDER BY revenue DESC) AS place, customer_id, revenue FROM totals;
