DELETE FROM daily WHERE day = '{{ ds }}';  -- expect: SW201
INSERT INTO daily (day, n)
SELECT day, count(*) FROM events WHERE day = '{{ ds }}' GROUP BY day;