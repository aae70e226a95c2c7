CREATE OR ALTER PROCEDURE dbo.LoadFactSales @LoadDate date
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    BEGIN TRY
        BEGIN TRANSACTION;
        DELETE FROM dbo.FactSales WHERE LoadDate = @LoadDate;
        INSERT INTO dbo.FactSales (LoadDate, ProductKey, Amount)
        SELECT @LoadDate, p.ProductKey, s.Amount
        FROM stg.Sales s
        JOIN dbo.DimProduct p ON p.Sku = s.Sku
        WHERE s.SaleDate = @LoadDate;
        COMMIT TRANSACTION;
    END TRY
    BEGIN CATCH
        IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;
        THROW;
    END CATCH
END
GO
