DROP TABLE IF EXISTS mart.revenue_by_region; -- expect: SW202
CREATE TABLE mart.revenue_by_region AS
SELECT region, SUM(amount) AS revenue FROM fct_sales GROUP BY region;
