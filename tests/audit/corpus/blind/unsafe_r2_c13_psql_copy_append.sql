\set ON_ERROR_STOP on
-- expect: SW101
COPY public.prices (isin, day, price) FROM '/data/prices.csv' WITH (FORMAT csv, HEADER true);
ANALYZE public.prices;
