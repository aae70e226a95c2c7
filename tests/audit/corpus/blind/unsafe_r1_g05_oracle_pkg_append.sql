CREATE OR REPLACE PROCEDURE load_movements (p_from IN DATE, p_to IN DATE) IS
BEGIN
    -- expect: SW102
    INSERT /*+ APPEND */ INTO dw_movements (mov_id, account_id, amount, booked)
    SELECT mov_id, account_id, amount, booked
    FROM core_movements@core
    WHERE booked >= p_from AND booked < p_to;
    COMMIT;
END load_movements;
/
