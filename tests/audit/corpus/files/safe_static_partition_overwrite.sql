INSERT OVERWRITE TABLE dw.clicks PARTITION (ds = '{{ ds }}')
SELECT url, user_id FROM staging.clicks WHERE ds = '{{ ds }}';
