{{ config(materialized='table') }}
with ranked as (
    -- expect: SW304
    select *, row_number() over (partition by account_id order by snapshot_date desc) as rn
    from {{ ref('stg_accounts') }}
)
select * from ranked where rn = 1
