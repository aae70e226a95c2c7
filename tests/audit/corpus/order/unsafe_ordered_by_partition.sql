INSERT OVERWRITE TABLE silver.users
SELECT user_id, email FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY user_id) AS rn FROM bronze.users -- expect: SW304
) t WHERE rn = 1;
