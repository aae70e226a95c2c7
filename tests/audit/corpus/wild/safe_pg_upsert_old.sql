UPDATE inventory i SET qty = s.qty FROM stg s WHERE i.sku = s.sku;
INSERT INTO inventory (sku, qty)
SELECT s.sku, s.qty FROM stg s
WHERE NOT EXISTS (SELECT 1 FROM inventory i WHERE i.sku = s.sku);
