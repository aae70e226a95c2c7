-- expect: SW101
BULK INSERT dbo.Sales
FROM 'D:\data\sales.csv'
WITH (FORMAT = 'CSV', FIRSTROW = 2);
GO
