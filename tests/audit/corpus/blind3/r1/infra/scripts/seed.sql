INSERT INTO roles (id, name) VALUES (1, 'admin') ON CONFLICT DO NOTHING;
INSERT INTO roles (id, name)
SELECT 2, 'user'
WHERE NOT EXISTS (SELECT 1 FROM roles WHERE id = 2);
