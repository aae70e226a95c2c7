INSERT INTO permission (id, name) VALUES (1, 'read') ON CONFLICT DO NOTHING;
INSERT INTO permission (id, name) SELECT 2, 'write' WHERE NOT EXISTS (SELECT 1 FROM permission WHERE id = 2);
INSERT IGNORE INTO permission (id, name) VALUES (3, 'admin');
