{{
    config(
        materialized = 'incremental',
        incremental_strategy = 'insert_overwrite',
        partition_by = {'field': 'event_date', 'data_type': 'date'},
        partitions = [var('start'), var('end')]
    )
}}
select event_date, user_id, count(*) as n
from {{ source('raw', 'events') }}
{% if is_incremental() %}
where event_date between '{{ var("start") }}' and '{{ var("end") }}'
{% endif %}
group by 1, 2