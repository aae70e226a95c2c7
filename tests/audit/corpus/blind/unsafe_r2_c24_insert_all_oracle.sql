-- expect: SW102
INSERT ALL
  WHEN amount >= 1000 THEN INTO big_orders (order_id, amount) VALUES (order_id, amount)
  ELSE INTO small_orders (order_id, amount) VALUES (order_id, amount)
SELECT order_id, amount FROM orders WHERE order_date = TO_DATE('2024-05-01', 'YYYY-MM-DD');
COMMIT;
