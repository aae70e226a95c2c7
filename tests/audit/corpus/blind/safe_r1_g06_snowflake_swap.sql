CREATE OR REPLACE TABLE mart.revenue_new CLONE mart.revenue;
TRUNCATE TABLE mart.revenue_new;
INSERT INTO mart.revenue_new SELECT day, sum(amount) FROM core.orders GROUP BY day;
ALTER TABLE mart.revenue_new SWAP WITH mart.revenue;
DROP TABLE mart.revenue_new;
