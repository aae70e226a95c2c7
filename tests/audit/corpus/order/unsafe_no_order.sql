CREATE OR REPLACE TABLE silver.users AS
SELECT * FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY user_id) AS rn -- expect: SW304
    FROM bronze.users
) WHERE rn = 1;
