{{ config(materialized='incremental', unique_key='id') }}
with x as ({{ dbt_utils.deduplicate(relation=ref('a'), partition_by='id', order_by='ts desc') }})
-- expect: SW305
select * from x limit 100
