;WITH src AS (
    SELECT Id, Name, ROW_NUMBER() OVER (PARTITION BY Id ORDER BY ModifiedAt DESC, Seq DESC) AS rn
    FROM stg.Customer
)
MERGE dbo.Customer WITH (HOLDLOCK) AS t
USING (SELECT Id, Name FROM src WHERE rn = 1) AS s
ON t.Id = s.Id
WHEN MATCHED AND t.Name <> s.Name THEN UPDATE SET Name = s.Name
WHEN NOT MATCHED BY TARGET THEN INSERT (Id, Name) VALUES (s.Id, s.Name)
OUTPUT $action, inserted.Id;
