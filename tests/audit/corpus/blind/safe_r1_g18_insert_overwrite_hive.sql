SET hive.exec.dynamic.partition.mode=nonstrict;
INSERT OVERWRITE TABLE dw.logins PARTITION (dt='${hiveconf:dt}')
SELECT user_id, count(1) FROM ods.logins WHERE dt='${hiveconf:dt}' GROUP BY user_id;
