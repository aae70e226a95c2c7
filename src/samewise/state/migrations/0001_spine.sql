-- Plain SQL that SQLite and PostgreSQL both read. A statement ends with a semicolon at the end of a line.

CREATE TABLE samewise_meta (
    store_id TEXT NOT NULL PRIMARY KEY,
    level INTEGER NOT NULL,
    created_at TEXT NOT NULL
);

CREATE TABLE samewise_runs (
    run_id TEXT NOT NULL PRIMARY KEY,
    pipeline TEXT NOT NULL,
    task TEXT NOT NULL,
    window_key TEXT NOT NULL,
    window_start TEXT NOT NULL,
    window_end TEXT NOT NULL,
    generation BIGINT NOT NULL,
    target TEXT NOT NULL,
    definition TEXT NOT NULL,
    run_ts TEXT NOT NULL,
    source TEXT NOT NULL,
    inputs TEXT NOT NULL,
    contract TEXT,
    base_version BIGINT NOT NULL,
    point TEXT NOT NULL,
    status TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    forced BOOLEAN NOT NULL,
    planned_at TEXT NOT NULL,
    closed_at TEXT,
    error TEXT,
    UNIQUE (pipeline, task, window_key, generation)
);

CREATE INDEX samewise_runs_by_time ON samewise_runs (pipeline, planned_at);

CREATE TABLE samewise_attempts (
    attempt_id TEXT NOT NULL PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES samewise_runs (run_id),
    number INTEGER NOT NULL,
    epoch BIGINT NOT NULL,
    status TEXT NOT NULL,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    error_code TEXT,
    error_message TEXT,
    host TEXT NOT NULL,
    pid BIGINT NOT NULL,
    staging TEXT,
    staging_dropped BOOLEAN NOT NULL,
    UNIQUE (run_id, number)
);

CREATE TABLE samewise_receipts (
    run_id TEXT NOT NULL PRIMARY KEY REFERENCES samewise_runs (run_id),
    pipeline TEXT NOT NULL,
    task TEXT NOT NULL,
    window_key TEXT NOT NULL,
    window_start TEXT NOT NULL,
    window_end TEXT NOT NULL,
    generation BIGINT NOT NULL,
    target TEXT NOT NULL,
    target_version BIGINT NOT NULL,
    definition TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    contract TEXT,
    measures TEXT,
    rows_read BIGINT,
    rows_staged BIGINT,
    rows_deleted BIGINT,
    rows_quarantined BIGINT,
    recovered BOOLEAN NOT NULL,
    landed_at TEXT NOT NULL,
    UNIQUE (pipeline, task, window_key, generation)
);

CREATE TABLE samewise_tasks (
    pipeline TEXT NOT NULL,
    task TEXT NOT NULL,
    watermark TEXT,
    watermark_moves INTEGER NOT NULL,
    contracts INTEGER NOT NULL,
    PRIMARY KEY (pipeline, task)
);

CREATE TABLE samewise_watermark_moves (
    pipeline TEXT NOT NULL,
    task TEXT NOT NULL,
    number INTEGER NOT NULL,
    value TEXT NOT NULL,
    moved_at TEXT NOT NULL,
    run_id TEXT,
    reason TEXT NOT NULL,
    PRIMARY KEY (pipeline, task, number)
);

CREATE TABLE samewise_contracts (
    pipeline TEXT NOT NULL,
    task TEXT NOT NULL,
    number INTEGER NOT NULL,
    contract_id TEXT NOT NULL,
    schema TEXT NOT NULL,
    accepted_at TEXT NOT NULL,
    run_id TEXT,
    reason TEXT NOT NULL,
    PRIMARY KEY (pipeline, task, number)
);

CREATE TABLE samewise_leases (
    target TEXT NOT NULL,
    window_key TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    holder TEXT,
    acquired_at TEXT,
    expires_at TEXT,
    PRIMARY KEY (target, window_key)
);
