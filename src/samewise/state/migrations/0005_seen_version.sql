-- The target's version that rows were compared with before they were written by key: what others did after it
-- was not known to the run, even where it lies before the run's own commit.
ALTER TABLE samewise_receipts ADD COLUMN seen_version BIGINT;
