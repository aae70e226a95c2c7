CREATE TABLE customers_new AS SELECT * FROM staging_customers;
DROP TABLE customers; -- expect: SW202
ALTER TABLE customers_new RENAME TO customers;
