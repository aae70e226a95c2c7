CREATE TABLE IF NOT EXISTS events AS SELECT * FROM read_parquet('events/*.parquet') LIMIT 0;
-- expect: SW102
INSERT INTO events SELECT * FROM read_parquet('events/2024-01-01.parquet');
