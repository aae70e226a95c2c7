CREATE TABLE IF NOT EXISTS events (id UInt64, ts DateTime, v Float64)
ENGINE = ReplacingMergeTree(ts) ORDER BY id;
CREATE MATERIALIZED VIEW IF NOT EXISTS events_mv TO events AS SELECT id, ts, v FROM events_queue;
