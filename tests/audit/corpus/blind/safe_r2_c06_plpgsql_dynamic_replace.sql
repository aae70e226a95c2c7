CREATE OR REPLACE FUNCTION etl.rebuild(p_table text, p_day date) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('DELETE FROM %I WHERE day = $1', p_table) USING p_day;
    EXECUTE format('INSERT INTO %I SELECT * FROM staging_%I WHERE day = $1', p_table, p_table) USING p_day;
END
$$;
