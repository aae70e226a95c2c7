CREATE TABLE #work (id INT, total MONEY);
INSERT INTO #work (id, total)
SELECT customer_id, SUM(amount) FROM dbo.Orders GROUP BY customer_id;
SELECT * FROM #work;
