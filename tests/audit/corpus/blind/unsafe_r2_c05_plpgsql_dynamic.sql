CREATE OR REPLACE PROCEDURE etl.copy_day(p_day date)
LANGUAGE plpgsql AS $$
BEGIN
    -- expect: SW102
    INSERT INTO dw.sales (sale_id, day, amount)
    SELECT sale_id, day, amount FROM ods.sales WHERE day = p_day;
    PERFORM pg_notify('etl', 'done');
END
$$;
