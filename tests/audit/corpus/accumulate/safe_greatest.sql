UPDATE t SET a = GREATEST(a, s.a) FROM s WHERE s.id = t.id;
