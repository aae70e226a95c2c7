-- expect: SW105
MERGE INTO mart.totals t USING (SELECT customer_id, SUM(x) AS x FROM stg.day GROUP BY customer_id) s
ON t.customer_id = s.customer_id
WHEN MATCHED THEN UPDATE SET t.x = t.x + s.x
WHEN NOT MATCHED THEN INSERT (customer_id, x) VALUES (s.customer_id, s.x);
