{{ config(materialized='incremental', unique_key='id') }}
select id, status, changed_at
from {{ source('crm', 'tickets') }}
{% if is_incremental() %}
-- expect: SW401
where changed_at >= dateadd(day, -1, current_date)
{% endif %}
