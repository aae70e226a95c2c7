CREATE TABLE products_new (LIKE products INCLUDING ALL);
INSERT INTO products_new SELECT * FROM staging.products;
DROP TABLE products;  -- expect: SW202
ALTER TABLE products_new RENAME TO products;