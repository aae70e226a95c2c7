-- expect: SW303
{{ config(materialized='incremental', unique_key='visit_key') }}
select
    {{ dbt_utils.generate_surrogate_key(['visit_id', 'loaded_at']) }} as visit_key,
    visit_id,
    loaded_at
from {{ ref('stg_visits') }}
