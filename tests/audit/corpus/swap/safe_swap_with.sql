CREATE OR REPLACE TABLE mart.orders_new AS SELECT * FROM staging.orders;
ALTER TABLE mart.orders SWAP WITH mart.orders_new;
DROP TABLE mart.orders_new;
