-- expect: SW102
INSERT INTO dbo.DailyTotals (Day, Total)
SELECT CAST(OrderDate AS DATE), SUM(Total)
FROM dbo.Orders
WHERE OrderDate >= DATEADD(day, -1, CAST(GETDATE() AS DATE)) -- expect: SW401
GROUP BY CAST(OrderDate AS DATE);
