-- expect: SW301
MERGE INTO silver.orders t
USING bronze.raw_orders s
ON t.order_id = s.order_id
WHEN MATCHED THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *;
