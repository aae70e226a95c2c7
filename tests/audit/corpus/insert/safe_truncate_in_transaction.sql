BEGIN;
TRUNCATE TABLE mart.daily_revenue;
INSERT INTO mart.daily_revenue
SELECT order_date, SUM(amount) FROM fct_orders GROUP BY order_date;
COMMIT;
