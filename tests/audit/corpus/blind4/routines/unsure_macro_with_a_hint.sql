{% macro add_rows(target_relation, fresh, hint) %}
-- expect: SW102 note
INSERT {{ hint }} INTO {{ target_relation }} SELECT * FROM {{ fresh }}
{% endmacro %}
