{{ config(materialized="incremental", incremental_strategy="delete+insert", unique_key=["account_id", "day"]) }}
select account_id, day, sum(amount) as amount
from {{ ref("stg_entries") }}
{% if is_incremental() %}
where day >= (select max(day) - interval '3 days' from {{ this }})
{% endif %}
group by 1, 2