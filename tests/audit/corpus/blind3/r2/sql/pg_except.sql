INSERT INTO dim_city (name, country)
SELECT DISTINCT city, country FROM stg_addresses
EXCEPT
SELECT name, country FROM dim_city;

INSERT INTO facts (id, v)
SELECT s.id, s.v FROM stg s LEFT JOIN facts f ON f.id = s.id WHERE f.id IS NULL;

INSERT INTO facts_hwm (id, v)
SELECT id, v FROM stg WHERE id > (SELECT coalesce(max(id), 0) FROM facts_hwm);