CREATE OR REPLACE PROCEDURE load_sales(p_day date) LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM sales_mart WHERE day = p_day;
  INSERT INTO sales_mart SELECT day, store, sum(x) FROM sales WHERE day = p_day GROUP BY 1,2;
EXCEPTION WHEN OTHERS THEN
  RAISE NOTICE 'failed';
  RAISE;
END $$;
