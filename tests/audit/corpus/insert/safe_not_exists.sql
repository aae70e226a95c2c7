INSERT INTO dim_customer (customer_key, customer_id, name)
SELECT nextval('dim_customer_seq'), s.customer_id, s.name
FROM stg_customer s
WHERE NOT EXISTS (SELECT 1 FROM dim_customer d WHERE d.customer_id = s.customer_id);
