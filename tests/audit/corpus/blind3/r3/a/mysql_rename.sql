CREATE TABLE items_new LIKE items;
INSERT INTO items_new SELECT * FROM items_src;
RENAME TABLE items TO items_old, items_new TO items;
DROP TABLE items_old;