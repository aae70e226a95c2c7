CREATE TABLE report_new LIKE report;
INSERT INTO report_new SELECT * FROM source_report;
RENAME TABLE report TO report_old, report_new TO report;
DROP TABLE report_old;
