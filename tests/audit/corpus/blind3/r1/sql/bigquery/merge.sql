MERGE `acme.mart.users` T
USING (
  SELECT * EXCEPT(rn) FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY _ingested_at DESC, _offset DESC) rn
    FROM `acme.raw.users` WHERE _PARTITIONDATE >= @from_date)
  WHERE rn = 1) S
ON T.user_id = S.user_id
WHEN MATCHED THEN UPDATE SET name = S.name
WHEN NOT MATCHED THEN INSERT ROW;