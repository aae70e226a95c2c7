{{ config(materialized="incremental", on_schema_change="append_new_columns") }} -- expect: SW801

with src as (
    select * from {{ ref('stg_payments') }}
    {% if is_incremental() %}
    where paid_at >= (select max(paid_at) from {{ this }})
    {% endif %}
)
select payment_id, amount, paid_at from src
