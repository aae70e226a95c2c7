CREATE PROCEDURE [etl].[LoadDim]
AS
     WITH x
          AS (SELECT [Timestamp], [Uid] AS [ProjectUID]
              FROM [stg_forms].[Links] [a])
          SELECT *
          INTO [#x]
          FROM [x];

     BEGIN TRAN;
     TRUNCATE   TABLE     [dm].[DimPortfolio];
     INSERT INTO [dm].[DimPortfolio]
            SELECT *
            FROM [#x];
     COMMIT TRAN;
