INSERT INTO prices (sku, valid_from, price)
SELECT sku, valid_from, price FROM incoming
ON CONFLICT (sku, valid_from) DO NOTHING;
