-- expect: SW202
IF OBJECT_ID('dbo.Report') IS NOT NULL DROP TABLE dbo.Report
SELECT Region, SUM(Amount) AS Amount INTO dbo.Report FROM dbo.Sales GROUP BY Region
