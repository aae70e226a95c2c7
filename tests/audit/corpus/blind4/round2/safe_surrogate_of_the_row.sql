{{ config(materialized='incremental', unique_key='visit_key') }}
select
    {{ dbt_utils.generate_surrogate_key(['visit_id', 'shop_id']) }} as visit_key,
    visit_id,
    max(loaded_at) as loaded_at
from {{ ref('stg_visits') }}
group by 1, 2
