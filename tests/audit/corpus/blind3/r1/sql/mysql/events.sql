DELIMITER $$
CREATE EVENT IF NOT EXISTS ev_purge
ON SCHEDULE EVERY 1 DAY
DO
BEGIN
  DELETE FROM sessions WHERE expires_at < NOW();
END$$

CREATE PROCEDURE refresh_top()
BEGIN
  START TRANSACTION;
  DELETE FROM top_products;
  INSERT INTO top_products (sku, n) SELECT sku, COUNT(*) FROM order_lines GROUP BY sku ORDER BY COUNT(*) DESC, sku LIMIT 100;
  COMMIT;
END$$
DELIMITER ;

REPLACE INTO settings (name, value) VALUES ('last_refresh', '2024-01-01');
INSERT INTO tags (name) VALUES ('a') ON DUPLICATE KEY UPDATE name = VALUES(name);
INSERT IGNORE INTO tag_map (tag_id, post_id) SELECT t.id, p.id FROM tags t JOIN posts p ON p.tag = t.name;