DELETE FROM session_log WHERE created_at < now() - interval '90 days';
DELETE FROM web_sessions WHERE last_seen < now() - interval '90 days';
INSERT INTO web_sessions (session_id, last_seen)
SELECT session_id, last_seen FROM incoming_sessions
ON CONFLICT (session_id) DO UPDATE SET last_seen = EXCLUDED.last_seen;
