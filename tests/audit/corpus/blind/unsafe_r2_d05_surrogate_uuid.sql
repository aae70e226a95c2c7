{{ config(materialized='table') }}
-- expect: SW302
select uuid_string() as customer_key, email, min(created_at) as first_seen
from {{ ref('stg_customers') }}
group by email
