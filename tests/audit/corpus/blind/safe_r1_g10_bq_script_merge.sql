DECLARE run_date DATE DEFAULT @run_date;

CREATE TEMP TABLE changed AS
SELECT * EXCEPT (rn) FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY updated_at DESC, _offset DESC) AS rn
  FROM `shop.raw.orders`
  WHERE DATE(updated_at) = run_date
) WHERE rn = 1;

MERGE `shop.core.orders` t
USING changed s
ON t.id = s.id
WHEN MATCHED AND s.updated_at > t.updated_at THEN UPDATE SET status = s.status, updated_at = s.updated_at
WHEN NOT MATCHED THEN INSERT ROW;
