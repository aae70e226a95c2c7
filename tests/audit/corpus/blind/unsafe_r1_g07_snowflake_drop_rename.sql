CREATE OR REPLACE TABLE mart.revenue_tmp AS SELECT day, sum(amount) AS amount FROM core.orders GROUP BY day;
-- expect: SW202
DROP TABLE IF EXISTS mart.revenue;
ALTER TABLE mart.revenue_tmp RENAME TO mart.revenue;
