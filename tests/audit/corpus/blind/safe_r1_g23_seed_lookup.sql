CREATE TABLE IF NOT EXISTS country (code char(2) PRIMARY KEY, name text NOT NULL);
INSERT INTO country (code, name) VALUES ('NL', 'Netherlands'), ('BE', 'Belgium'), ('DE', 'Germany');
