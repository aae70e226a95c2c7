CREATE OR REPLACE FUNCTION mart.refresh_daily(p_day date) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM mart.daily WHERE day = p_day;

    INSERT INTO mart.daily (day, product_id, qty)
    SELECT p_day, product_id, sum(qty)
    FROM sales.line
    WHERE sold_on = p_day
    GROUP BY product_id;
END;
$$;
