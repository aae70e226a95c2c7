-- expect: SW102
INSERT INTO dw.dim_product (product_sk, sku, name)
SELECT nextval('product_seq'), sku, name -- expect: SW302
FROM staging.products;
