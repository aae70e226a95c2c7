-- run by cron every hour, ${HOUR} comes from the shell
copy logs.access from 's3://acme-logs/${HOUR}/' iam_role 'arn:aws:iam::1:role/x' json 'auto' gzip;  -- expect: SW101
analyze logs.access;