CREATE PROCEDURE dbo.usp_CreateOrder @CustomerId INT, @Total MONEY, @OrderId INT OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO dbo.Orders (CustomerId, Total, CreatedAt) VALUES (@CustomerId, @Total, SYSUTCDATETIME());  -- expect: SW103 note
    SET @OrderId = SCOPE_IDENTITY();
END
GO
CREATE PROCEDURE dbo.usp_AddTag @Name NVARCHAR(50)
AS
BEGIN
    IF NOT EXISTS (SELECT 1 FROM dbo.Tags WHERE Name = @Name)
        INSERT INTO dbo.Tags (Name) VALUES (@Name);
END
GO
CREATE TRIGGER trg_Orders ON dbo.Orders AFTER UPDATE AS
BEGIN
    INSERT INTO dbo.OrdersHistory (OrderId, Total) SELECT OrderId, Total FROM deleted;
END
GO