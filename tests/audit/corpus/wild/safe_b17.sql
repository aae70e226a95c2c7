{{ config(materialized="incremental", incremental_strategy="merge", unique_key=["id"]) }}
select id, user_id, created_at from {{ source('app','clicks') }}
{% if is_incremental() %}
where created_at >= (select dateadd('day', -3, max(created_at)) from {{ this }})
{% endif %}
