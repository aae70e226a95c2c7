-- expect: SW205
{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by={'field':'ts','data_type':'timestamp','granularity':'day'}) }}
select * from {{ ref('e') }}
-- expect: SW401
{% if is_incremental() %} where ts > timestamp_sub(current_timestamp(), interval 1 hour) {% endif %}
