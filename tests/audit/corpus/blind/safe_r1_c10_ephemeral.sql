{{ config(materialized='ephemeral') }}
select *, row_number() over (partition by user_id order by created_at) as visit_number
from {{ ref('visits') }}
