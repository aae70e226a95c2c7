INSERT INTO core.customer (customer_key, email, name)
-- expect: SW302
SELECT gen_random_uuid(), email, name
FROM raw.customer
ON CONFLICT (customer_key) DO NOTHING;
