CREATE PROCEDURE rpt.ReloadSummary AS
BEGIN
    SET NOCOUNT ON;
    TRUNCATE TABLE rpt.Summary;  -- expect: SW201
    INSERT INTO rpt.Summary (Region, Total)
    SELECT Region, SUM(Total) FROM dbo.FactSales GROUP BY Region;
END