WITH changed AS (
    UPDATE account SET balance = s.balance FROM staging_account s WHERE s.id = account.id RETURNING account.id
)
INSERT INTO account (id, balance)
SELECT s.id, s.balance FROM staging_account s WHERE s.id NOT IN (SELECT id FROM changed);
