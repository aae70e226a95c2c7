{{
    config(
        materialized='incremental',
        incremental_strategy='delete+insert',
        unique_key=['order_date', 'store_id']
    )
}}
select order_date, store_id, sum(amount) as amount
from {{ ref('stg_orders') }}
{% if is_incremental() %}
  where order_date >= (select max(order_date) from {{ this }})
{% endif %}
group by 1, 2
