-- expect: SW301
MERGE INTO accounts a
USING (SELECT account_id, balance, op FROM account_changes WHERE load_date = '2024-05-01') c
ON a.account_id = c.account_id
WHEN MATCHED AND c.op = 'D' THEN DELETE
WHEN MATCHED THEN UPDATE SET balance = c.balance
WHEN NOT MATCHED THEN INSERT (account_id, balance) VALUES (c.account_id, c.balance);
