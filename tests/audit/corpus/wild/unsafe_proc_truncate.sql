USE [Bank]
GO
/****** Object:  StoredProcedure [dbo].[usp_LoadFact] ******/
DROP PROCEDURE [dbo].[usp_LoadFact]
GO
SET ANSI_NULLS ON
GO
CREATE PROCEDURE [dbo].[usp_LoadFact]
AS
/* MODIFICATION LOG: 1.0 insert into foo select */
    BEGIN
-- expect: SW201
		TRUNCATE TABLE dbo.tblFact;
       INSERT INTO dbo.tblFact
	SELECT s.tran_date
     , s.amt
  FROM dbo.stg_p2 AS s
 ORDER BY 1
        , 2;
        END;
GO
