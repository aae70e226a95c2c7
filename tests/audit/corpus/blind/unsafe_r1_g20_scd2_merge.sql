-- expect: SW301 note
MERGE INTO dim_customer AS t
USING (
    SELECT customer_id AS merge_key, customer_id, address, valid_from FROM updates
    UNION ALL
    SELECT NULL AS merge_key, u.customer_id, u.address, u.valid_from
    FROM updates u JOIN dim_customer d ON u.customer_id = d.customer_id
    WHERE d.is_current AND u.address <> d.address
) AS s
ON t.customer_id = s.merge_key
WHEN MATCHED AND t.is_current AND t.address <> s.address THEN UPDATE SET is_current = FALSE, valid_to = s.valid_from
WHEN NOT MATCHED THEN INSERT (customer_id, address, is_current, valid_from) VALUES (s.customer_id, s.address, TRUE, s.valid_from);
