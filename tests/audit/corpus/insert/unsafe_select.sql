-- expect: SW102
INSERT INTO dw.fact_orders (order_id, customer_id, amount)
SELECT o.order_id, o.customer_id, o.amount
FROM staging.orders o
JOIN staging.customers c ON c.customer_id = o.customer_id
WHERE o.order_date = '2024-05-01';
