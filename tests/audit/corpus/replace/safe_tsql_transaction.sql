BEGIN TRY
    BEGIN TRANSACTION;
    DELETE FROM dbo.FactInventory WHERE DateKey = @DateKey;
    INSERT INTO dbo.FactInventory (DateKey, Sku, Qty)
    SELECT @DateKey, Sku, Qty FROM staging.Inventory;
    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    ROLLBACK TRANSACTION;
    THROW;
END CATCH
