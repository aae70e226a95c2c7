{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='event_at', batch_size='day', begin='2024-01-01') }}
select event_id, event_at from {{ ref('stg_events') }}
