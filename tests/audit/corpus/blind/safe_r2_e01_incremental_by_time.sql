MODEL (
  name mart.daily_orders,
  kind INCREMENTAL_BY_TIME_RANGE (time_column day),
  cron '@daily',
  grain (day, customer_id)
);

SELECT day, customer_id, COUNT(*) AS orders
FROM core.orders
WHERE day BETWEEN @start_ds AND @end_ds
GROUP BY day, customer_id
