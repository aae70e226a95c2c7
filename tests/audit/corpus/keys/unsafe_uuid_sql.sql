CREATE OR REPLACE TABLE mart.customers AS
SELECT
    gen_random_uuid() AS customer_key, -- expect: SW302
    c.email,
    c.name
FROM crm.customers c;
