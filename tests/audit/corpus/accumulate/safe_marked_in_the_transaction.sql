BEGIN;
UPDATE accounts a SET balance = balance + p.amount FROM payments p WHERE p.account_id = a.id AND p.applied = false;
UPDATE payments SET applied = true WHERE applied = false;
COMMIT;
