{% macro log_run(model) %}
  {% set q %}
    insert into {{ target.schema }}.dbt_run_log (model, ran_at) values ('{{ model }}', current_timestamp)
  {% endset %}
  {% do run_query(q) %}
{% endmacro %}
