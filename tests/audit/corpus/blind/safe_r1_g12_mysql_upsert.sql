INSERT INTO rate (code, day, value)
SELECT code, day, value FROM rate_import
ON DUPLICATE KEY UPDATE value = VALUES(value);
