{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by={'field': 'event_ts', 'data_type': 'timestamp', 'granularity': 'day'}) }} -- expect: SW205

select event_id, event_ts, payload
from {{ source('app', 'events') }}
{% if is_incremental() %}
where event_ts >= timestamp_sub(current_timestamp(), interval 3 hour) -- expect: SW401
{% endif %}
