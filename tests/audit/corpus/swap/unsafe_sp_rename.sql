SELECT * INTO dbo.Prices_New FROM staging.Prices;
DROP TABLE dbo.Prices; -- expect: SW202
EXEC sp_rename 'dbo.Prices_New', 'Prices';
GO
