{{ config(materialized='incremental', incremental_strategy='append') }}  -- expect: SW801
select * from {{ ref('stg_pageviews') }}
{% if is_incremental() %}
where received_at > current_timestamp - interval '3 hours'  -- expect: SW401
{% endif %}