SET hive.exec.dynamic.partition.mode=nonstrict;
-- expect: SW204
INSERT OVERWRITE TABLE dw.page_views PARTITION (ds)
SELECT url, user_id, ds FROM staging.page_views WHERE ds >= '2024-01-01';
