ALTER PROCEDURE [etl].[usp_LoadDimDate] @Year int
AS
BEGIN
  SET NOCOUNT ON
  DECLARE @rows int

  BEGIN TRAN
    DELETE d FROM [dw].[DimDate] d WHERE d.[Year] = @Year

    INSERT INTO [dw].[DimDate] ([Date], [Year])
    SELECT [Date], [Year]
    FROM [stg].[Calendar]
    WHERE [Year] = @Year

    SET @rows = @@ROWCOUNT
  COMMIT TRAN

  PRINT CONCAT('loaded ', @rows)
END
GO
