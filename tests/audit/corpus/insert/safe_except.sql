INSERT INTO archive.events
SELECT * FROM events WHERE event_date = '2024-01-01'
EXCEPT
SELECT * FROM archive.events;
