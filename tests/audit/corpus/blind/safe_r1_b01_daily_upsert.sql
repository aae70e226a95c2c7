-- run by SQLExecuteQueryOperator
INSERT INTO {{ params.schema }}.customer_daily AS t (customer_id, day, orders)
SELECT customer_id, DATE '{{ ds }}', COUNT(*)
FROM {{ params.schema }}.orders
WHERE ordered_at::date = DATE '{{ ds }}'
GROUP BY 1, 2
ON CONFLICT (customer_id, day)
DO UPDATE SET orders = EXCLUDED.orders;
