CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, created timestamptz DEFAULT now());
CREATE UNIQUE INDEX ON orders (created, id);
ALTER TABLE orders ADD CONSTRAINT c CHECK (id > 0);
COMMENT ON TABLE orders IS 'insert only';
