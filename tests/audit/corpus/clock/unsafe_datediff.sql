MERGE INTO dbo.Customers t
USING (SELECT CustomerId, MAX(Name) AS Name FROM crm.Customers WHERE DATEDIFF(day, ModifiedAt, GETDATE()) <= 1 GROUP BY CustomerId) s -- expect: SW401
ON t.CustomerId = s.CustomerId
WHEN MATCHED THEN UPDATE SET t.Name = s.Name;
