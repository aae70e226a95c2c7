INSERT INTO silver.orders (order_id, amount)
SELECT order_id, amount FROM bronze.orders_stream WHERE METADATA$ACTION = 'INSERT';
