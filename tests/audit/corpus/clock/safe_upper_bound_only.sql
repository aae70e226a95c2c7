INSERT INTO fct_events (event_id, ts)
SELECT event_id, ts FROM raw_events
WHERE ts > (SELECT MAX(ts) FROM fct_events) AND ts < CURRENT_TIMESTAMP;
