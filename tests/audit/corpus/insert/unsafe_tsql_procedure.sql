CREATE PROCEDURE dbo.LoadSales
AS
BEGIN
    SET NOCOUNT ON;

    -- expect: SW102
    INSERT INTO dbo.FactSales (SaleId, ProductKey, Amount)
    SELECT s.SaleId, p.ProductKey, s.Amount
    FROM staging.Sales s
    INNER JOIN dbo.DimProduct p ON p.ProductCode = s.ProductCode

    UPDATE dbo.Stats SET refreshed = 1
END
GO
