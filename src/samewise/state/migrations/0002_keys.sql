-- Load epochs, for strategies that write by key; runs that had nothing to write; files that were loaded.

ALTER TABLE samewise_runs ADD COLUMN epoch BIGINT;
ALTER TABLE samewise_runs ADD COLUMN era BIGINT;

ALTER TABLE samewise_receipts ADD COLUMN epoch BIGINT;
ALTER TABLE samewise_receipts ADD COLUMN wrote BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE samewise_receipts ADD COLUMN table_id TEXT;
ALTER TABLE samewise_receipts ADD COLUMN rows_inserted BIGINT;
ALTER TABLE samewise_receipts ADD COLUMN rows_updated BIGINT;
ALTER TABLE samewise_receipts ADD COLUMN rows_unchanged BIGINT;

ALTER TABLE samewise_tasks ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;
ALTER TABLE samewise_tasks ADD COLUMN era BIGINT NOT NULL DEFAULT 0;
ALTER TABLE samewise_tasks ADD COLUMN era_definition TEXT;
ALTER TABLE samewise_tasks ADD COLUMN era_contract TEXT;

CREATE TABLE samewise_files (
    pipeline TEXT NOT NULL,
    task TEXT NOT NULL,
    path TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    version TEXT NOT NULL,
    run_id TEXT NOT NULL,
    loaded_at TEXT NOT NULL,
    PRIMARY KEY (pipeline, task, path)
);
