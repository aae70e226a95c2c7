-- expect: SW103 note
INSERT INTO app.settings (name, value) VALUES ('a', '1');
-- expect: SW103 note
INSERT INTO app.settings (name, value) VALUES ('b', '2');
