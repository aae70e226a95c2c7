-- expect: SW801
{{ config(materialized='incremental', incremental_strategy='append') }}

select event_id, user_id, event_name, received_at
from {{ source('app', 'events') }}
{% if is_incremental() %}
where received_at >= (select max(received_at) from {{ this }})
{% endif %}
