-- exercise 4: subqueries
CREATE TABLE student (id INT PRIMARY KEY, name VARCHAR(50));
INSERT INTO student VALUES (1, 'A'), (2, 'B');
CREATE TABLE topper (id INT, name VARCHAR(50));
INSERT INTO topper SELECT id, name FROM student WHERE id = 1;
UPDATE student SET name = 'C' WHERE id = 2;
DELETE FROM student WHERE id = 1;