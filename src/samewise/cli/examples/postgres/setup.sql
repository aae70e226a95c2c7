-- A shop with three days of orders, one of them large: the same rows wherever this is run.
-- A second run makes them anew. Everything lies in the schema samewise_shop; DROP SCHEMA takes it away again.
DROP SCHEMA IF EXISTS samewise_shop CASCADE;
CREATE SCHEMA samewise_shop;

CREATE TABLE samewise_shop.orders (
    order_id    bigint PRIMARY KEY,
    customer_id bigint NOT NULL,
    amount      numeric(12,2) NOT NULL,
    status      text NOT NULL,
    placed_at   timestamptz NOT NULL
);

-- Order 1 to 250000 are of 2026-04-25 in Berlin, one every 0.3 seconds; a thousand more of the day before and after.
INSERT INTO samewise_shop.orders
SELECT n, 1 + n * 7919 % 5000, (100 + n * 104729 % 50000) / 100.0, (ARRAY['new', 'paid', 'sent'])[1 + n % 3],
       timestamp '2026-04-25' AT TIME ZONE 'Europe/Berlin' + n * interval '0.3 seconds'
FROM generate_series(1::bigint, 250000) AS n
UNION ALL
SELECT n, 1 + n * 7919 % 5000, (100 + n * 104729 % 50000) / 100.0, 'sent',
       timestamp '2026-04-24' AT TIME ZONE 'Europe/Berlin' + (n - 250000) * interval '1 minute'
FROM generate_series(250001::bigint, 251000) AS n
UNION ALL
SELECT n, 1 + n * 7919 % 5000, (100 + n * 104729 % 50000) / 100.0, 'new',
       timestamp '2026-04-26' AT TIME ZONE 'Europe/Berlin' + (n - 251000) * interval '1 minute'
FROM generate_series(251001::bigint, 252000) AS n;

CREATE INDEX ON samewise_shop.orders (placed_at);
ANALYZE samewise_shop.orders;
