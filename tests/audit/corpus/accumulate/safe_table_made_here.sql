CREATE TABLE stg.x AS SELECT * FROM raw.x;
UPDATE stg.x SET amount = amount / 100;
