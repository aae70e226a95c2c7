USE mart;
INSERT INTO TABLE mart.errors PARTITION (dt)  # expect: SW102
SELECT msg, level, dt FROM raw.logs WHERE level = 'ERROR' AND dt = '${hiveconf:dt}';