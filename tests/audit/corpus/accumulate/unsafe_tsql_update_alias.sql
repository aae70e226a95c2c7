-- expect: SW105
UPDATE a SET a.total = COALESCE(a.total, 0) + b.amount FROM dbo.totals a INNER JOIN dbo.daily b ON a.id = b.id;
