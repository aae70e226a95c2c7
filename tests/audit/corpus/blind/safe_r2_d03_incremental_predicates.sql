{{ config(
    materialized='incremental',
    unique_key=['id'],
    incremental_strategy='merge',
    incremental_predicates=["DBT_INTERNAL_DEST.created_at > dateadd(day, -7, current_date)"]
) }}
select id, created_at, status from {{ ref('stg_orders') }}
{% if is_incremental() %}
where created_at >= (select dateadd(day, -3, max(created_at)) from {{ this }})
{% endif %}
