CREATE OR ALTER PROCEDURE etl.LoadInventory
    @AsOf DATE,
    @Debug BIT = 0
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    DECLARE @rows INT, @msg NVARCHAR(400);

    IF OBJECT_ID('tempdb..#inv') IS NOT NULL DROP TABLE #inv;
    SELECT i.Sku, i.Warehouse, SUM(i.Qty) AS Qty
    INTO #inv
    FROM stg.Inventory i
    WHERE i.AsOf = @AsOf
    GROUP BY i.Sku, i.Warehouse;

    CREATE CLUSTERED INDEX cx ON #inv (Sku, Warehouse);

    INSERT INTO #inv (Sku, Warehouse, Qty)
    SELECT m.Sku, m.Warehouse, 0 FROM ref.SkuWarehouse m
    WHERE NOT EXISTS (SELECT 1 FROM #inv x WHERE x.Sku = m.Sku AND x.Warehouse = m.Warehouse);

    BEGIN TRANSACTION;

    MERGE dw.Inventory AS t  -- expect: SW301 note
    USING #inv AS s ON t.Sku = s.Sku AND t.Warehouse = s.Warehouse AND t.AsOf = @AsOf
    WHEN MATCHED THEN UPDATE SET t.Qty = s.Qty
    WHEN NOT MATCHED BY TARGET THEN INSERT (AsOf, Sku, Warehouse, Qty) VALUES (@AsOf, s.Sku, s.Warehouse, s.Qty);
    SET @rows = @@ROWCOUNT;

    INSERT INTO etl.LoadLog (Proc_, AsOf, Rows_, LoadedAt) VALUES (OBJECT_NAME(@@PROCID), @AsOf, @rows, GETDATE());
    COMMIT;

    IF @Debug = 1
    BEGIN
        SET @msg = CONCAT('insert into dw.Inventory gave ', @rows);
        PRINT @msg;
    END

    INSERT INTO dw.InventoryMovements (AsOf, Sku, Delta)  -- expect: SW102
    SELECT @AsOf, c.Sku, c.Qty - ISNULL(p.Qty, 0)
    FROM dw.Inventory c
    LEFT JOIN dw.Inventory p ON p.Sku = c.Sku AND p.AsOf = DATEADD(DAY, -1, @AsOf)
    WHERE c.AsOf = @AsOf;
END
GO