{{ config(materialized='incremental', unique_key='id', incremental_predicates=["DBT_INTERNAL_DEST.day > dateadd(day, -7, current_date)"]) }}
select id, day, v, {{ dbt.current_timestamp() }} as loaded_at from {{ ref('x') }}
{% if is_incremental() %} where day >= (select dateadd(day, -3, max(day)) from {{ this }}) {% endif %}