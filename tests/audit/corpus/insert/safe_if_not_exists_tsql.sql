IF NOT EXISTS (SELECT 1 FROM dbo.LoadedFiles WHERE file_name = @file)
BEGIN
    INSERT INTO dbo.Sales (sale_id, amount)
    SELECT sale_id, amount FROM staging.Sales;
    INSERT INTO dbo.LoadedFiles (file_name) VALUES (@file);
END
