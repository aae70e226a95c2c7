{{ config(materialized='table') }}
with ranked as (
    select *, row_number() over (partition by customer_id order by order_date desc) as rn -- expect: SW304
    from {{ ref('orders') }}
)
select * from ranked where rn = 1
