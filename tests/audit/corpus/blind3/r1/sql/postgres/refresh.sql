\set ON_ERROR_STOP on
BEGIN;
LOCK TABLE report.kpi IN EXCLUSIVE MODE;
TRUNCATE report.kpi;
INSERT INTO report.kpi (name, value) SELECT 'orders', count(*) FROM orders UNION ALL SELECT 'users', count(*) FROM users;
COMMIT;
VACUUM ANALYZE report.kpi;
REFRESH MATERIALIZED VIEW CONCURRENTLY report.kpi_by_day;