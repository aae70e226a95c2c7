-- expect: SW105
UPDATE accounts SET balance = balance + i.amount
FROM interest_due i WHERE i.account_id = accounts.id;
