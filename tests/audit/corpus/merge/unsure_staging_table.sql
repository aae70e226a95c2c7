-- expect: SW301 note
MERGE INTO dw.products t
USING staging.products s
ON t.sku = s.sku
WHEN MATCHED THEN UPDATE SET t.price = s.price
WHEN NOT MATCHED THEN INSERT (sku, price) VALUES (s.sku, s.price);
