-- idempotent: partition swap
ALTER TABLE dbo.Fact SWITCH PARTITION 5 TO dbo.Fact_Old;
ALTER TABLE dbo.Fact_New SWITCH TO dbo.Fact PARTITION 5;
