-- expect: SW801
{{ config(materialized='incremental', partition_by={"field": "d", "data_type": "date"}, cluster_by=['x']) }}
select * from {{ ref('a') }}
-- expect: SW401
{% if is_incremental() %} where d >= date_sub(current_date(), interval 2 day) {% endif %}
