{% macro cents(column) %}
    ({{ column }} / 100)::numeric(16, 2)
{% endmacro %}
