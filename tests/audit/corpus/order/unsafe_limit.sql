CREATE OR REPLACE TABLE mart.sample_users AS
SELECT * FROM users
WHERE country = 'DE'
LIMIT 10000; -- expect: SW305
