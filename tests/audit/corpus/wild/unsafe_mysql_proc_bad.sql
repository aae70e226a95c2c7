DELIMITER $$
CREATE PROCEDURE load_daily(IN p_day DATE)
BEGIN
-- expect: SW102
  INSERT INTO daily (day, total)
  SELECT day, SUM(total) FROM orders WHERE day = p_day GROUP BY day;
END $$
DELIMITER ;
