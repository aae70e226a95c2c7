CREATE OR REPLACE FUNCTION forget_shop(gone bigint) RETURNS void AS $$
BEGIN
  DELETE FROM shop_names WHERE shop_id = gone;
END;
$$ LANGUAGE plpgsql;

CREATE OR REPLACE FUNCTION name_shops() RETURNS void AS $$
BEGIN
  DELETE FROM shop_labels;
  INSERT INTO shop_labels SELECT shop_id, label FROM shops;
END;
$$ LANGUAGE plpgsql;
