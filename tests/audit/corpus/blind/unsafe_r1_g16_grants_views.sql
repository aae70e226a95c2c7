CREATE SCHEMA IF NOT EXISTS reporting;
CREATE OR REPLACE VIEW reporting.latest AS
-- expect: SW304 note
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts DESC) rn FROM core.events) x WHERE rn = 1;
GRANT SELECT ON ALL TABLES IN SCHEMA reporting TO bi_reader;
GRANT INSERT, UPDATE, DELETE ON core.events TO etl;
SELECT * FROM reporting.latest LIMIT 100;
