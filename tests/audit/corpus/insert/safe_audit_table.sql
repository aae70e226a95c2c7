INSERT INTO etl_audit (job_name, started_at)
SELECT 'orders', CURRENT_TIMESTAMP FROM job_config WHERE job = 'orders';
