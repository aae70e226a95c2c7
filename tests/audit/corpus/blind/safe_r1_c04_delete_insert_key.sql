{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key=['account_id', 'month']) }}
select account_id, date_trunc('month', booked_at) as month, sum(amount) as balance
from {{ ref('bookings') }}
{% if is_incremental() %}
where date_trunc('month', booked_at) >= (select max(month) from {{ this }})
{% endif %}
group by 1, 2
