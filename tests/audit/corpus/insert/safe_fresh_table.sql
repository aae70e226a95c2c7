CREATE TABLE report_2024_q1 (region TEXT, revenue NUMERIC);
INSERT INTO report_2024_q1 SELECT region, SUM(amount) FROM sales WHERE q = 1 GROUP BY region;
