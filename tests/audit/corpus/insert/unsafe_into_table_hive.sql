SET hive.exec.dynamic.partition = true;

-- expect: SW102
INSERT INTO TABLE warehouse.page_views PARTITION (ds = '2024-01-01')
SELECT url, user_id FROM raw.page_views WHERE ds = '2024-01-01';
