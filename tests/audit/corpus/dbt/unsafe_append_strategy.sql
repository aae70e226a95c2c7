{{ config(materialized='incremental', incremental_strategy='append', unique_key='event_id') }} -- expect: SW801
select event_id, payload from {{ ref('raw_events') }}
