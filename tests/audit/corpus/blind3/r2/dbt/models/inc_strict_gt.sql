{{ config(materialized='incremental') }}
select id, ts, payload from {{ source('app', 'events') }}
{% if is_incremental() %}
where id not in (select id from {{ this }})
{% endif %}