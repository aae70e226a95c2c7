-- expect: SW102
INSERT INTO dbo.Results EXEC dbo.usp_Compute @Day = '2024-01-01';
