BEGIN;
-- expect: SW201
TRUNCATE analytics.sessions;
INSERT INTO analytics.sessions SELECT * FROM raw_zone.sessions DISTKEY;
COMMIT;
