{{ config(materialized='table') }}
-- expect: SW302
select uuid_string() as customer_key, c.* from {{ ref('c') }} c
