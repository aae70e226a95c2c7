MODEL (
  name mart.daily,
  kind INCREMENTAL_BY_TIME_RANGE (time_column day),
  cron '@daily'
);
SELECT day, count(*) AS n FROM raw.events WHERE day BETWEEN @start_date AND @end_date GROUP BY day