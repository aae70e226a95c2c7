-- a column called variant must not make Snowflake of it: x::VARIANT
CREATE OR REPLACE FUNCTION shop_changed() RETURNS TRIGGER AS $$
BEGIN
  IF NEW.kind IS NULL THEN
    DELETE FROM shop_lines WHERE shop_id = NEW.shop_id;
    RETURN NULL;
  END IF;
  INSERT INTO shop_lines (shop_id, kind) VALUES (NEW.shop_id, NEW.kind);
  RETURN NEW;
END;
$$ LANGUAGE plpgsql;
