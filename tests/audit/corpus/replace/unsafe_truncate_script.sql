-- expect: SW201
TRUNCATE TABLE reporting.customers;

INSERT INTO reporting.customers
SELECT c.id, c.name, r.region FROM crm.customers c JOIN regions r ON r.id = c.region_id;
