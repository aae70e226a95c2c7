WITH moved AS (
    DELETE FROM queue WHERE status = 'done' RETURNING *
)
INSERT INTO queue_archive
SELECT * FROM moved;
