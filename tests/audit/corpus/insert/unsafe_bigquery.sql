-- expect: SW102
INSERT INTO `shop-prod.mart.revenue` (day, revenue)
SELECT DATE(created_at), SUM(amount)
FROM `shop-prod.raw.payments`
WHERE DATE(created_at) = @run_date
GROUP BY 1;
