{{ config(materialized='incremental') }} -- expect: SW801 note
select event_id, event_at from {{ ref('raw_events') }}
{% if is_incremental() %}
where event_at > (select max(event_at) from {{ this }})
{% endif %}
