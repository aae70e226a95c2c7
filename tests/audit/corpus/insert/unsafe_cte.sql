WITH recent AS ( -- expect: SW102
    SELECT customer_id, max(order_date) AS last_order
    FROM orders
    GROUP BY customer_id
)
INSERT INTO customer_activity (customer_id, last_order)
SELECT customer_id, last_order FROM recent;
