{{ config(materialized = 'incremental', schema='marts', tags=['daily']) }}  -- expect: SW801

with hits as (
  select * from {{ ref('stg_hits') }}
  {% if is_incremental() %}
  where hit_date >= (select max(hit_date) from {{ this }})
  {% endif %}
)
select h.*, u.country from hits h left join {{ ref('users') }} u using (user_id)