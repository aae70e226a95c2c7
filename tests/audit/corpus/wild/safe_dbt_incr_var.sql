{{
  config(
    materialized = 'incremental',
    unique_key = var('key', 'id'),
    tags = ['hourly'],
  )
}}
with s as (select * from {{ ref('x') }})
select * from s
{% if is_incremental() %}
  where loaded_at > (select coalesce(max(loaded_at), '1900-01-01') from {{ this }})
{% endif %}
