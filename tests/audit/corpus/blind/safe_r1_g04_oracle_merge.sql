MERGE INTO dim_customer d
USING (
    SELECT customer_id, MAX(name) AS name, MAX(city) AS city
    FROM stg_customer
    GROUP BY customer_id
) s
ON (d.customer_id = s.customer_id)
WHEN MATCHED THEN UPDATE SET d.name = s.name, d.city = s.city
WHEN NOT MATCHED THEN INSERT (customer_id, name, city) VALUES (s.customer_id, s.name, s.city);
COMMIT;
