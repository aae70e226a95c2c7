INSERT INTO warehouse.dim_store (store_id, name)
SELECT s.store_id, MIN(s.name)
FROM staging.stores AS s
LEFT JOIN warehouse.dim_store AS d ON d.store_id = s.store_id
WHERE d.store_id IS NULL
GROUP BY s.store_id;
