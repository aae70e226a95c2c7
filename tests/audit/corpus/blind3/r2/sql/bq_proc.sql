CREATE OR REPLACE PROCEDURE mart.refresh_daily(d DATE)
BEGIN
  DELETE FROM mart.daily WHERE day = d;  -- expect: SW201
  INSERT INTO mart.daily (day, n) SELECT DATE(ts), COUNT(*) FROM raw.hits WHERE DATE(ts) = d GROUP BY 1;
END;