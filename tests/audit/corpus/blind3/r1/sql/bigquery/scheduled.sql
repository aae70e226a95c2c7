DECLARE d DATE DEFAULT DATE_SUB(@run_date, INTERVAL 1 DAY);
BEGIN TRANSACTION;
DELETE FROM `acme.mart.sessions` WHERE day = d;
INSERT INTO `acme.mart.sessions` (day, user_id, n)
SELECT DATE(ts), user_id, COUNT(*) FROM `acme.raw.hits` WHERE DATE(ts) = d GROUP BY 1, 2;
COMMIT TRANSACTION;