MERGE INTO dim.session t
USING (SELECT uuid_generate_v4() AS session_key, session_id, min(ts) AS started FROM raw.session GROUP BY session_id) s
ON t.session_id = s.session_id
WHEN NOT MATCHED THEN INSERT (session_key, session_id, started) VALUES (s.session_key, s.session_id, s.started);