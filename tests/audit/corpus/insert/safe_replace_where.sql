INSERT INTO silver.orders REPLACE WHERE order_date = DATE'2024-05-01'
SELECT * FROM bronze.orders WHERE order_date = DATE'2024-05-01';
