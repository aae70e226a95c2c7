DECLARE
  CURSOR c IS SELECT id, payload FROM inbox WHERE status = 'NEW' FOR UPDATE;
  n NUMBER := 0;
BEGIN
  FOR r IN c LOOP
    INSERT INTO processed (id, payload) VALUES (r.id, r.payload);  -- expect: SW103 note
    UPDATE inbox SET status = 'DONE' WHERE CURRENT OF c;
    n := n + 1;
  END LOOP;
  COMMIT;
  DBMS_OUTPUT.PUT_LINE('moved ' || n);
END;
/
EXECUTE IMMEDIATE 'TRUNCATE TABLE mv_cust';