IF OBJECT_ID('dbo.usp_LoadFactSales') IS NOT NULL
    DROP PROCEDURE dbo.usp_LoadFactSales
GO
CREATE PROCEDURE dbo.usp_LoadFactSales @BatchDate DATE
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    BEGIN TRY
        BEGIN TRAN
            DELETE FROM dbo.FactSales WHERE SaleDate = @BatchDate;

            INSERT INTO dbo.FactSales (SaleDate, ProductKey, StoreKey, Qty, Amount)
            SELECT s.SaleDate, p.ProductKey, st.StoreKey, SUM(s.Qty), SUM(s.Amount)
            FROM stg.Sales s
            JOIN dbo.DimProduct p ON p.Sku = s.Sku AND p.IsCurrent = 1
            JOIN dbo.DimStore st ON st.StoreCode = s.StoreCode
            WHERE s.SaleDate = @BatchDate
            GROUP BY s.SaleDate, p.ProductKey, st.StoreKey;
        COMMIT TRAN
    END TRY
    BEGIN CATCH
        IF @@TRANCOUNT > 0 ROLLBACK TRAN;
        THROW;
    END CATCH
END
GO