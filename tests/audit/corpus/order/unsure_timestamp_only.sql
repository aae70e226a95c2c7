CREATE OR REPLACE TABLE silver.prices AS
SELECT * FROM raw.prices
QUALIFY ROW_NUMBER() OVER (PARTITION BY sku ORDER BY updated_at DESC) = 1; -- expect: SW304 note
