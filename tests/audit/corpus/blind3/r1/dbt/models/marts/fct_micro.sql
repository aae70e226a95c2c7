{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='ts', batch_size='day', begin='2024-01-01') }}
select ts, sensor, value from {{ ref('readings') }}