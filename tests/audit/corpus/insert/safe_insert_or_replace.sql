INSERT OR REPLACE INTO settings_by_day (day, value)
SELECT day, value FROM incoming;
INSERT OR IGNORE INTO seen SELECT id FROM incoming;
