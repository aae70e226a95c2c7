{{ config(materialized='incremental', unique_key='user_id') }}
select user_id, max(seen_at) as last_seen
from {{ ref('visits') }}
{% if is_incremental() %}
where seen_at > (select max(last_seen) from {{ this }})
{% endif %}
group by user_id
