{{ config(materialized='view') }}
select * from {{ ref('orders') }} where created_at > current_date - 30 limit 1000