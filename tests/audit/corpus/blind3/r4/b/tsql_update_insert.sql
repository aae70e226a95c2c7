BEGIN TRAN;
UPDATE t SET t.v = s.v FROM dbo.t t JOIN dbo.s s ON s.id = t.id;
INSERT INTO dbo.t (id, v) SELECT s.id, s.v FROM dbo.s s WHERE s.id NOT IN (SELECT id FROM dbo.t);
COMMIT TRAN;