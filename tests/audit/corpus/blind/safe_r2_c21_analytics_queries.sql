-- insert your own dates here
-- delete from the list what you do not need
SELECT u.id, COUNT(*) AS updates, MAX(o.created_at) AS "insert"
FROM users u JOIN orders o ON o.user_id = u.id
WHERE o.created_at >= CURRENT_DATE - 30
GROUP BY u.id
LIMIT 50;
EXPLAIN ANALYZE SELECT 1;
