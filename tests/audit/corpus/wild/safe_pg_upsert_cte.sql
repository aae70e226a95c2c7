WITH upd AS (
  UPDATE stock SET qty = s.qty FROM staging_stock s WHERE stock.sku = s.sku RETURNING stock.sku
)
INSERT INTO stock (sku, qty)
SELECT sku, qty FROM staging_stock WHERE sku NOT IN (SELECT sku FROM upd);
