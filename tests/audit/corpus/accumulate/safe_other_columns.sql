UPDATE t SET total = s.price * s.qty, name = UPPER(name) FROM s WHERE s.id = t.id;
