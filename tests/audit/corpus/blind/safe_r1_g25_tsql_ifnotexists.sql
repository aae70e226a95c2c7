IF NOT EXISTS (SELECT 1 FROM dbo.Settings WHERE Name = 'theme')
BEGIN
    INSERT INTO dbo.Settings (Name, Value) VALUES ('theme', 'dark')
END
GO
