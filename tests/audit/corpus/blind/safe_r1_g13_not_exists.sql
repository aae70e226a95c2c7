INSERT INTO dim_sku (sku, first_seen)
SELECT DISTINCT s.sku, s.day
FROM staging_sales s
WHERE NOT EXISTS (SELECT 1 FROM dim_sku d WHERE d.sku = s.sku);
