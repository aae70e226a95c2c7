BEGIN;

DELETE FROM mart.page_views WHERE view_date = '{{ macros.ds_add(ds, -1) }}';

INSERT INTO mart.page_views
SELECT page, view_date, count(*) AS views
FROM staging.hits
WHERE view_date = '{{ macros.ds_add(ds, -1) }}'
{% if params.get("tenant") %}
  AND tenant = '{{ params.tenant }}'
{% endif %}
GROUP BY page, view_date;

COMMIT;
