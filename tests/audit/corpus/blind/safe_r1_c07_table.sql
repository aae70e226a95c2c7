{{ config(materialized='table', sort='day', dist='customer_id') }}
select customer_id, day, sum(amount) as amount, current_timestamp as built_at
from {{ ref('orders') }}
group by 1, 2
