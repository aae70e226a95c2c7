-- nightly: loader may run twice, so clean
DELETE FROM events a USING events b  -- expect: SW104 note
WHERE a.ctid < b.ctid AND a.event_id = b.event_id;