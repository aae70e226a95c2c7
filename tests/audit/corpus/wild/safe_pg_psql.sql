\set ON_ERROR_STOP on
\timing
BEGIN;
DELETE FROM facts WHERE day = :'day';
INSERT INTO facts SELECT * FROM staging_facts WHERE day = :'day';
COMMIT;
