--liquibase formatted sql
--changeset ana:2
INSERT INTO feature_flag (name, enabled) SELECT 'x', false FROM tenants;
--rollback DELETE FROM feature_flag WHERE name = 'x';