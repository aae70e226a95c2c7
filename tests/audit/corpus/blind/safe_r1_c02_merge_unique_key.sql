{{
    config(
        materialized='incremental',
        unique_key='order_id',
        incremental_strategy='merge',
        merge_exclude_columns=['inserted_at'],
        on_schema_change='append_new_columns',
    )
}}

with src as (
    select *
    from {{ ref('stg_orders') }}
    {% if is_incremental() %}
    where updated_at > (select coalesce(max(updated_at), '1900-01-01') from {{ this }})
    {% endif %}
)
select order_id, status, amount, updated_at, current_timestamp as inserted_at
from src
qualify row_number() over (partition by order_id order by updated_at desc, event_seq desc) = 1
