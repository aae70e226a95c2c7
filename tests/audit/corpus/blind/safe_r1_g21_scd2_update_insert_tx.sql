BEGIN;
UPDATE dim_product d SET valid_to = s.loaded_on, is_current = false
FROM stg_product s
WHERE d.sku = s.sku AND d.is_current AND d.price IS DISTINCT FROM s.price;
INSERT INTO dim_product (sku, price, valid_from, is_current)
SELECT s.sku, s.price, s.loaded_on, true
FROM stg_product s
LEFT JOIN dim_product d ON d.sku = s.sku AND d.is_current
WHERE d.sku IS NULL;
COMMIT;
