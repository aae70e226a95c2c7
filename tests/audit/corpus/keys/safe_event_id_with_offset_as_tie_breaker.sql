INSERT INTO events (event_id, payload)
SELECT event_id, payload FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY event_id ORDER BY event_time DESC, kafka_offset DESC) AS rn FROM raw_events
) x WHERE rn = 1
ON CONFLICT (event_id) DO NOTHING;
