DECLARE @ids TABLE (id INT);
INSERT INTO @ids SELECT id FROM dbo.Orders WHERE Status = 1;
UPDATE o SET o.Status = 2 FROM dbo.Orders o JOIN @ids i ON i.id = o.id;
