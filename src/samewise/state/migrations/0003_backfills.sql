-- Runs whose windows are published together, and backfills.

ALTER TABLE samewise_runs ADD COLUMN group_id TEXT;
ALTER TABLE samewise_runs ADD COLUMN group_span TEXT;
ALTER TABLE samewise_runs ADD COLUMN group_generation BIGINT;

CREATE INDEX samewise_runs_by_group ON samewise_runs (group_id);

CREATE TABLE samewise_backfills (
    backfill_id TEXT NOT NULL PRIMARY KEY,
    pipeline TEXT NOT NULL,
    span_start TEXT NOT NULL,
    span_end TEXT NOT NULL,
    newest_first BOOLEAN NOT NULL,
    forced BOOLEAN NOT NULL,
    status TEXT NOT NULL,
    asked TEXT,
    pins TEXT NOT NULL,
    windows INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    error TEXT
);

CREATE INDEX samewise_backfills_by_time ON samewise_backfills (pipeline, created_at);

CREATE TABLE samewise_backfill_windows (
    backfill_id TEXT NOT NULL REFERENCES samewise_backfills (backfill_id),
    window_key TEXT NOT NULL,
    outcome TEXT NOT NULL,
    done_at TEXT NOT NULL,
    PRIMARY KEY (backfill_id, window_key)
);
