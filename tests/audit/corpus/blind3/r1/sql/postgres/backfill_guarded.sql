INSERT INTO dim_country (code, name)
SELECT s.code, s.name FROM stg_country s
WHERE NOT EXISTS (SELECT 1 FROM dim_country d WHERE d.code = s.code);

WITH moved AS (
    DELETE FROM inbox WHERE processed RETURNING *
)
INSERT INTO archive SELECT * FROM moved;