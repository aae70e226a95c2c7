CREATE OR REPLACE FUNCTION audit_change() RETURNS trigger AS $body$
BEGIN
    IF TG_OP = 'DELETE' THEN
        INSERT INTO audit_log (tbl, op, old_row) VALUES (TG_TABLE_NAME, TG_OP, row_to_json(OLD));
        RETURN OLD;
    END IF;
    INSERT INTO audit_log (tbl, op, new_row) VALUES (TG_TABLE_NAME, TG_OP, row_to_json(NEW));
    RETURN NEW;
END;
$body$ LANGUAGE plpgsql;

CREATE TRIGGER orders_audit AFTER INSERT OR UPDATE OR DELETE ON orders FOR EACH ROW EXECUTE FUNCTION audit_change();
