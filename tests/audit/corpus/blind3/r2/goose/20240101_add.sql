-- +goose Up
CREATE TABLE plan (id int, name text);
INSERT INTO plan VALUES (1, 'free'), (2, 'pro');
INSERT INTO plan_user SELECT id, 1 FROM users;
-- +goose Down
DROP TABLE plan;