BEGIN TRANSACTION;
DELETE FROM `shop.mart.daily` WHERE day = @run_date;
INSERT INTO `shop.mart.daily` SELECT day, SUM(amount) FROM `shop.core.orders` WHERE day = @run_date GROUP BY day;
COMMIT TRANSACTION;
