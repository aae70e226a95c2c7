{% macro log_run(model) %}
  insert into {{ target.schema }}.dbt_audit (model, at) values ('{{ model }}', current_timestamp)
{% endmacro %}