-- expect: SW303
INSERT INTO prices (sku, loaded_at, price)
SELECT sku, now(), price FROM incoming
ON CONFLICT (sku, loaded_at) DO NOTHING;
