{{ config(materialized='incremental') }} -- expect: SW801

select event_id, user_id, event_at
from {{ source('app', 'events') }}
