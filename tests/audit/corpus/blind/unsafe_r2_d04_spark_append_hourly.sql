-- expect: SW801
{{ config(materialized='incremental', file_format='delta', incremental_strategy='append', partition_by=['dt']) }}
select *, date(event_ts) as dt from {{ source('lake', 'events') }}
{% if is_incremental() %}
where dt = '{{ var("dt") }}'
{% endif %}
