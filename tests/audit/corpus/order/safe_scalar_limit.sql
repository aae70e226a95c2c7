INSERT INTO prices (sku, price)
SELECT s.sku, (SELECT p.price FROM price_list p WHERE p.sku = s.sku LIMIT 1) FROM skus s
ON CONFLICT (sku) DO NOTHING;
