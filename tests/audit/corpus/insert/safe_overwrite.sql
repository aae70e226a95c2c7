INSERT OVERWRITE TABLE analytics.sessions PARTITION (ds = '${hiveconf:ds}')
SELECT user_id, session_start, session_end FROM staging.sessions WHERE ds = '${hiveconf:ds}';
