UPDATE dim_customer d
SET valid_to = CURRENT_DATE, is_current = false
FROM stg_customer s
WHERE d.customer_id = s.customer_id AND d.is_current AND d.row_hash <> s.row_hash;

INSERT INTO dim_customer (customer_id, name, row_hash, valid_from, valid_to, is_current)
SELECT s.customer_id, s.name, s.row_hash, CURRENT_DATE, NULL, true
FROM stg_customer s
LEFT JOIN dim_customer d ON d.customer_id = s.customer_id AND d.is_current
WHERE d.customer_id IS NULL OR d.row_hash <> s.row_hash;
