INSERT INTO dbo.WorkQueue (OrderId) -- expect: SW102
SELECT TOP (500) OrderId FROM dbo.Orders WHERE Status = 'new'; -- expect: SW305
