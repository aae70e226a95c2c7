INSERT INTO daily_history (day, n)  -- expect: SW102
SELECT day, n FROM daily WHERE day = '{{ ds }}';