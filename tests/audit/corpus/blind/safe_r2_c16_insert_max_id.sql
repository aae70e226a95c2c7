INSERT INTO archive.events (id, at, body)
SELECT id, at, body
FROM live.events
WHERE id > (SELECT COALESCE(MAX(id), 0) FROM archive.events);
