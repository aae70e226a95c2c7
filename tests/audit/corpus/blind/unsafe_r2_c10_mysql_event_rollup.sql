CREATE EVENT rollup_hits
ON SCHEDULE EVERY 1 HOUR
DO
  -- expect: SW102
  INSERT INTO hits_hourly (hour, page, n)
  SELECT DATE_FORMAT(at, '%Y-%m-%d %H:00:00'), page, COUNT(*)
  FROM hits
  -- expect: SW401
  WHERE at >= NOW() - INTERVAL 1 HOUR
  GROUP BY 1, 2;
