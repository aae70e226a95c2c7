BEGIN;
ALTER TABLE products RENAME TO products_old;
ALTER TABLE products_new RENAME TO products;
DROP TABLE products_old;
COMMIT;
