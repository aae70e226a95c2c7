CREATE TABLE mart.sales_tmp_build AS SELECT * FROM stg.sales;
-- expect: SW202
DROP TABLE IF EXISTS mart.sales;
ALTER TABLE mart.sales_tmp_build RENAME TO sales;
