SELECT order_date, customer_id, count(*) AS orders, sum(amount) AS amount
FROM source
GROUP BY order_date, customer_id
