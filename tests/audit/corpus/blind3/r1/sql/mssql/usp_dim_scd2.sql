CREATE OR ALTER PROCEDURE dbo.usp_DimCustomer
AS
BEGIN
    SET XACT_ABORT ON;
    BEGIN TRANSACTION;
    UPDATE d SET d.IsCurrent = 0, d.ValidTo = s.ModifiedDate
    FROM dbo.DimCustomer d
    JOIN stg.Customer s ON s.CustomerId = d.CustomerId
    WHERE d.IsCurrent = 1 AND d.RowHash <> s.RowHash;

    INSERT INTO dbo.DimCustomer (CustomerId, Name, Email, RowHash, ValidFrom, ValidTo, IsCurrent)
    SELECT s.CustomerId, s.Name, s.Email, s.RowHash, s.ModifiedDate, NULL, 1
    FROM stg.Customer s
    LEFT JOIN dbo.DimCustomer d ON d.CustomerId = s.CustomerId AND d.IsCurrent = 1
    WHERE d.CustomerId IS NULL;
    COMMIT TRANSACTION;
END