CREATE OR ALTER PROCEDURE dbo.SyncCustomers AS
BEGIN
  SET NOCOUNT ON;
-- expect: SW301 note
  MERGE dbo.Customers AS tgt
  USING staging.Customers AS src ON tgt.CustomerId = src.CustomerId
  WHEN MATCHED AND tgt.Hash <> src.Hash THEN UPDATE SET tgt.Name = src.Name
  WHEN NOT MATCHED BY TARGET THEN INSERT (CustomerId, Name) VALUES (src.CustomerId, src.Name)
  WHEN NOT MATCHED BY SOURCE THEN DELETE;
END
