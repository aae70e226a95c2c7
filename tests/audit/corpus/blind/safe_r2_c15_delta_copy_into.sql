CREATE TABLE IF NOT EXISTS bronze.invoices;
COPY INTO bronze.invoices
FROM 's3://landing/invoices'
FILEFORMAT = JSON
FORMAT_OPTIONS ('inferSchema' = 'true')
COPY_OPTIONS ('mergeSchema' = 'true');
