{{ config(
    materialized='incremental',
    incremental_strategy='microbatch',
    event_time='event_occurred_at',
    begin='2024-01-01',
    batch_size='day'
) }}
select * from {{ ref('page_views') }}
