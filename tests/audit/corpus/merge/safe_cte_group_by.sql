WITH totals AS (
    SELECT user_id, SUM(points) AS points FROM raw_events GROUP BY user_id
)
MERGE INTO user_points u USING totals s ON u.user_id = s.user_id
WHEN MATCHED THEN UPDATE SET points = s.points
WHEN NOT MATCHED THEN INSERT (user_id, points) VALUES (s.user_id, s.points);
