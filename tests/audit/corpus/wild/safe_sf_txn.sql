BEGIN;
DELETE FROM mart.daily WHERE day = $day;
INSERT INTO mart.daily SELECT * FROM staging.daily WHERE day = $day;
COMMIT;
