-- expect: SW303
MERGE INTO silver.orders t
USING (SELECT * FROM staged QUALIFY ROW_NUMBER() OVER (PARTITION BY order_id ORDER BY version DESC, file_id) = 1) s
ON t.order_id = s.order_id AND t.load_ts = s.load_ts
WHEN NOT MATCHED THEN INSERT *;
