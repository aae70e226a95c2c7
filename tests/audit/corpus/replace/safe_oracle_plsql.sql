CREATE OR REPLACE PROCEDURE refresh_balances AS
BEGIN
  DELETE FROM account_balances WHERE as_of = TRUNC(SYSDATE);
  INSERT INTO account_balances (account_id, as_of, balance)
  SELECT account_id, TRUNC(SYSDATE), SUM(amount) FROM ledger GROUP BY account_id;
  COMMIT;
END;
/
