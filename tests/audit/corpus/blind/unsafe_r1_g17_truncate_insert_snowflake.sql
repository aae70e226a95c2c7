USE WAREHOUSE etl_wh;
-- expect: SW201
TRUNCATE TABLE IF EXISTS analytics.public.customer_360;
INSERT INTO analytics.public.customer_360
SELECT c.id, c.email, SUM(o.amount)
FROM analytics.core.customers c
LEFT JOIN analytics.core.orders o ON o.customer_id = c.id
GROUP BY 1, 2;
