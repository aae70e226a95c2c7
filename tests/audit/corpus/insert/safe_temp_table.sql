CREATE TEMP TABLE recent AS SELECT * FROM orders LIMIT 0;
INSERT INTO recent SELECT * FROM orders WHERE order_date > '2024-01-01';
SELECT count(*) FROM recent;
