CREATE OR REPLACE PACKAGE BODY pkg_dw AS
  PROCEDURE load_balances (p_day DATE) IS
    v_cnt NUMBER;
  BEGIN
    DELETE FROM dw_balances WHERE bal_date = p_day;
    INSERT INTO dw_balances (account_id, bal_date, balance)
    SELECT account_id, p_day, SUM(amount) FROM core_tx WHERE tx_date <= p_day GROUP BY account_id;
    v_cnt := SQL%ROWCOUNT;
    COMMIT;
  EXCEPTION
    WHEN OTHERS THEN
      ROLLBACK;
      RAISE;
  END load_balances;
END pkg_dw;
/
