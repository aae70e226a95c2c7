{{ config(materialized='table') }}
select customer_id, count(*) as orders from {{ ref('orders') }} group by 1
