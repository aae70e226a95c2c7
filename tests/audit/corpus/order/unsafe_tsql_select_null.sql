WITH d AS (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY OrderId ORDER BY (SELECT NULL)) AS rn -- expect: SW304
    FROM staging.Orders
)
MERGE INTO dbo.Orders t USING (SELECT * FROM d WHERE rn = 1) s ON t.OrderId = s.OrderId
WHEN MATCHED THEN UPDATE SET t.Total = s.Total
WHEN NOT MATCHED THEN INSERT (OrderId, Total) VALUES (s.OrderId, s.Total);
