MERGE INTO dim_store t
USING (SELECT store_code, MAX(name) AS name FROM stg_store GROUP BY store_code) s
ON t.store_code = s.store_code
WHEN NOT MATCHED THEN INSERT (store_key, store_code, name) VALUES (store_seq.NEXTVAL, s.store_code, s.name);
