-- expect: SW301
MERGE INTO silver.users AS t
USING bronze.user_events AS s
ON t.user_id = s.user_id
WHEN MATCHED THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *;
