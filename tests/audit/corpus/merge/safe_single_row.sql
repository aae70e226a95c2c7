MERGE INTO settings t
USING (SELECT @key AS setting_key, @value AS setting_value) s
ON t.setting_key = s.setting_key
WHEN MATCHED THEN UPDATE SET t.setting_value = s.setting_value
WHEN NOT MATCHED THEN INSERT (setting_key, setting_value) VALUES (s.setting_key, s.setting_value);
