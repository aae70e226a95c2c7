-- expect: SW103 note
INSERT INTO countries (code, name) VALUES ('DE', 'Germany'), ('FR', 'France');
