{{ config(materialized='table') }}
select session_id, user_id, row_number() over (partition by user_id order by started_at, session_id) as visit_number
from {{ ref('sessions') }}