UPDATE control.watermarks SET last_loaded = '2024-05-01' WHERE job = 'orders'; -- expect: SW403
MERGE INTO dw.orders t
USING (SELECT order_id, MAX(amount) AS amount FROM stg_orders GROUP BY order_id) s
ON t.order_id = s.order_id
WHEN NOT MATCHED THEN INSERT (order_id, amount) VALUES (s.order_id, s.amount);
