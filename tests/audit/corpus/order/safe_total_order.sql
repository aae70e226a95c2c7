CREATE OR REPLACE TABLE silver.users AS
SELECT * FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY updated_at DESC, event_id DESC) AS rn
    FROM bronze.users
) WHERE rn = 1;
