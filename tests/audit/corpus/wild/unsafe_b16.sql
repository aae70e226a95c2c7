-- expect: SW801
{{
  config(
    materialized="incremental",
    on_schema_change="sync_all_columns"
  )
}}
select id, user_id, created_at from {{ source('app','clicks') }}
{% if is_incremental() %}
where created_at >= '{{ var("from_date") }}'
{% endif %}
