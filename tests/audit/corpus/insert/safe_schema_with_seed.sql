CREATE TABLE order_status (
    status_id INT PRIMARY KEY,
    label TEXT NOT NULL
);
INSERT INTO order_status (status_id, label) VALUES (1, 'new'), (2, 'paid'), (3, 'shipped');
