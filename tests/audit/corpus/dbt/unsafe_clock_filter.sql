{{ config(materialized='incremental', unique_key='session_id') }}

select session_id, started_at
from {{ ref('stg_sessions') }}
{% if is_incremental() %}
where started_at >= dateadd(day, -3, current_date) -- expect: SW401
{% endif %}
