CREATE PROCEDURE dbo.empty_visits AS
BEGIN
  TRUNCATE TABLE dbo.visits;
END
GO
CREATE PROCEDURE dbo.fill_visits AS
BEGIN
  -- expect: SW102 note
  INSERT INTO dbo.visits SELECT shop_id, seen_at FROM dbo.landing_visits;
END
GO
