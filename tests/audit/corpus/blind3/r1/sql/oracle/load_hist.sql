WHENEVER SQLERROR EXIT FAILURE
DELETE FROM hist_balance WHERE load_day = TO_DATE('&1', 'YYYYMMDD');  -- expect: SW201
COMMIT;
INSERT /*+ APPEND */ INTO hist_balance (load_day, acct, bal)
SELECT TO_DATE('&1', 'YYYYMMDD'), acct, bal FROM v_balance;
COMMIT;
EXIT