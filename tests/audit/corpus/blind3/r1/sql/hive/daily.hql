SET hive.exec.dynamic.partition.mode=nonstrict;
INSERT OVERWRITE TABLE mart.clicks PARTITION (dt='${hiveconf:dt}')
SELECT user_id, url, count(*) FROM raw.clicks WHERE dt='${hiveconf:dt}' GROUP BY user_id, url;