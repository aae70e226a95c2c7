-- expect: SW102
INSERT INTO events (event_id, payload)
SELECT event_id, payload FROM raw_events;

-- expect: SW104
DELETE FROM events a USING events b
WHERE a.ctid < b.ctid AND a.event_id = b.event_id;
