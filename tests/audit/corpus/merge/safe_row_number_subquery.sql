MERGE INTO silver.orders AS t
USING (
    SELECT order_id, amount, updated_at FROM (
        SELECT r.*, ROW_NUMBER() OVER (PARTITION BY order_id ORDER BY updated_at DESC, source_offset DESC) AS rn
        FROM bronze.raw_orders r
    ) x WHERE rn = 1
) AS s
ON t.order_id = s.order_id
WHEN MATCHED AND s.updated_at > t.updated_at THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *;
