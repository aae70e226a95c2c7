-- expect: SW201
DELETE FROM mart.daily_revenue WHERE day = '2024-05-01';

INSERT INTO mart.daily_revenue (day, revenue)
SELECT day, SUM(amount) FROM fct_orders WHERE day = '2024-05-01' GROUP BY day;
