CREATE OR REPLACE TABLE mart.top_products AS
SELECT product_id, revenue FROM product_revenue ORDER BY revenue DESC, product_id LIMIT 100;
