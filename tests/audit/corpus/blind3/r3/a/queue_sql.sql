-- claims jobs for a worker
WITH next AS (
  SELECT id FROM jobs WHERE state = 'queued' ORDER BY priority, id LIMIT 10 FOR UPDATE SKIP LOCKED
)
UPDATE jobs SET state = 'running', started_at = now() FROM next WHERE jobs.id = next.id RETURNING jobs.*;