\set ON_ERROR_STOP on
BEGIN;
CREATE TEMP TABLE in_prices (isin text, day date, price numeric) ON COMMIT DROP;
\copy in_prices FROM 'prices.csv' CSV HEADER
INSERT INTO prices SELECT DISTINCT ON (isin, day) * FROM in_prices ORDER BY isin, day, price
ON CONFLICT (isin, day) DO UPDATE SET price = EXCLUDED.price;
COMMIT;
