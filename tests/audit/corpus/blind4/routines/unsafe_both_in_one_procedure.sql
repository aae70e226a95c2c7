CREATE PROCEDURE dbo.refill_visits AS
BEGIN
  -- expect: SW201
  TRUNCATE TABLE dbo.visits;
  INSERT INTO dbo.visits SELECT shop_id, seen_at FROM dbo.landing_visits;
END
GO
