-- expect: SW102
INSERT INTO `shop.mart.sessions` (session_id, user_id, started_at)
SELECT session_id, user_id, started_at
FROM `shop.raw.sessions`
-- expect: SW401
WHERE started_at >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY);
