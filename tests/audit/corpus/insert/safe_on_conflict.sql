INSERT INTO warehouse.customers (customer_id, name, updated_at)
SELECT customer_id, name, updated_at
FROM staging.customers
ON CONFLICT (customer_id) DO UPDATE
SET name = EXCLUDED.name, updated_at = EXCLUDED.updated_at;
