CREATE OR REPLACE TABLE mart.customers AS
SELECT DISTINCT customer_id, name FROM raw.customers;
