-- expect: SW102
INSERT INTO {{ params.schema }}.customer_daily (customer_id, day, orders)
SELECT customer_id, DATE '{{ ds }}', COUNT(*)
FROM {{ params.schema }}.orders
WHERE ordered_at::date = DATE '{{ ds }}'
GROUP BY 1, 2;
