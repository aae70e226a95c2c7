{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by={'field': 'day', 'data_type': 'date'}) }}
select day, user_id from {{ ref('events') }}
{% if is_incremental() %}
where day >= date('{{ var("start_date") }}')
{% endif %}
