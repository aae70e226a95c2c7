CREATE PROCEDURE [rpt].[RefreshInventory]
AS
SET NOCOUNT ON

-- expect: SW201
TRUNCATE TABLE [rpt].[Inventory]

INSERT INTO [rpt].[Inventory] ([Sku], [Warehouse], [Units])
SELECT [Sku], [Warehouse], SUM([Units])
FROM [wms].[Moves]
GROUP BY [Sku], [Warehouse]
GO
