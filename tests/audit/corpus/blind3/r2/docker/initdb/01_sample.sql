DROP TABLE IF EXISTS employees;
CREATE TABLE employees (id serial primary key, name text, dept text);
INSERT INTO employees (name, dept) VALUES ('Ann', 'IT'), ('Bob', 'HR');
INSERT INTO employees (name, dept) SELECT 'Emp ' || g, 'IT' FROM generate_series(1, 100) g;