INSERT INTO mart.users (user_id, email)
SELECT s.user_id, s.email
FROM raw_users s
LEFT JOIN mart.users u ON u.user_id = s.user_id
WHERE u.user_id IS NULL;
