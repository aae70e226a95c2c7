BEGIN;
DROP TABLE IF EXISTS mart.summary;
CREATE TABLE mart.summary AS SELECT region, SUM(amount) FROM sales GROUP BY region;
COMMIT;
