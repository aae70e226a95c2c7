CREATE OR REPLACE PACKAGE BODY pkg_gl AS
  PROCEDURE post_day(p_day IN DATE) IS
  BEGIN
    DELETE FROM gl_daily WHERE gl_day = p_day;
    INSERT INTO gl_daily (gl_day, account, amount)
      SELECT p_day, account, SUM(amount) FROM gl_entries WHERE entry_day = p_day GROUP BY account;
    COMMIT;
  EXCEPTION
    WHEN OTHERS THEN
      ROLLBACK;
      RAISE;
  END post_day;

  PROCEDURE sync_accounts IS
  BEGIN
    MERGE INTO accounts a
    USING (SELECT account, MAX(name) AS name FROM gl_entries GROUP BY account) s
    ON (a.account = s.account)
    WHEN MATCHED THEN UPDATE SET a.name = s.name
    WHEN NOT MATCHED THEN INSERT (account, name) VALUES (s.account, s.name);
    COMMIT;
  END sync_accounts;
END pkg_gl;
/