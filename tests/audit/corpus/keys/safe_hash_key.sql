INSERT OVERWRITE TABLE dw.dim_customer
SELECT md5(concat_ws('|', source, customer_id)) AS customer_key, customer_id, name FROM staging.customers;
