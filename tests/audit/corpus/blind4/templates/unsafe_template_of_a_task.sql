-- expect: SW102
INSERT INTO {{ params.table }}
SELECT visit_id, seen_on FROM landing.visits WHERE seen_on = '{{ ds }}';
