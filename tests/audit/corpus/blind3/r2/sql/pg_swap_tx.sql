BEGIN;
CREATE TABLE sales_new (LIKE sales INCLUDING ALL);
INSERT INTO sales_new SELECT * FROM sales_src;
ALTER TABLE sales RENAME TO sales_old;
ALTER TABLE sales_new RENAME TO sales;
DROP TABLE sales_old;
COMMIT;