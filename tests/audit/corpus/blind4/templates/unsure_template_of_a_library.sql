{% if key is not none %}
-- expect: SW201 note
DELETE FROM {{ target }} WHERE EXISTS (SELECT 1 FROM {{ fresh }} f WHERE f.{{ key }} = {{ target }}.{{ key }});
{% endif %}
INSERT INTO {{ target }} SELECT * FROM {{ fresh }};
