{{ config(
    materialized = 'incremental',
    incremental_strategy = 'insert_overwrite',
    partition_by = {'field': 'session_date', 'data_type': 'date'},
    partitions = ["'" ~ var('run_date') ~ "'"],
    cluster_by = ['country']
) }}

select session_date, country, count(*) as sessions
from {{ ref('sessions') }}
{% if is_incremental() %}
where session_date = date('{{ var("run_date") }}')
{% endif %}
group by 1, 2
