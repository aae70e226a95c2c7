CREATE OR REPLACE FUNCTION rollup_hour(p_hour timestamptz) RETURNS bigint LANGUAGE plpgsql AS $fn$
DECLARE
    n bigint;
BEGIN
    DELETE FROM rollup WHERE hour = p_hour;
    INSERT INTO rollup (hour, sensor, avg_value)
    SELECT date_trunc('hour', ts), sensor, avg(value) FROM readings
    WHERE ts >= p_hour AND ts < p_hour + interval '1 hour' GROUP BY 1, 2;
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN n;
END
$fn$;

CREATE OR REPLACE FUNCTION audit_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO audit.log (tbl, who, old_row) VALUES (TG_TABLE_NAME, current_user, row_to_json(OLD));
    RETURN NEW;
END $$;