CREATE TABLE IF NOT EXISTS visits (
    id SERIAL PRIMARY KEY,
    url TEXT,
    visited_at TIMESTAMP
);
-- expect: SW102
INSERT INTO visits (url, visited_at)
SELECT url, visited_at FROM raw_visits;
