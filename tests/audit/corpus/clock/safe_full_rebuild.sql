CREATE OR REPLACE TABLE mart.active_last_30_days AS
SELECT user_id FROM sessions WHERE started_at >= CURRENT_DATE - 30;
