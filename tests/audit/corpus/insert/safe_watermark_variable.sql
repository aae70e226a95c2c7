DECLARE @last_loaded DATETIME2 = (SELECT MAX(modified_at) FROM dbo.FactSales);

INSERT INTO dbo.FactSales (sale_id, amount, modified_at)
SELECT sale_id, amount, modified_at
FROM staging.Sales
WHERE modified_at > @last_loaded;
