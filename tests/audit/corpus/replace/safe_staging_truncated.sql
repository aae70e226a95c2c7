TRUNCATE TABLE staging.orders;
COPY staging.orders FROM 's3://bucket/orders/' IAM_ROLE 'arn:x' CSV;
BEGIN;
DELETE FROM dw.orders USING staging.orders s WHERE dw.orders.order_id = s.order_id;
INSERT INTO dw.orders SELECT * FROM staging.orders;
COMMIT;
