CREATE TABLE stats_new LIKE stats;
INSERT INTO stats_new SELECT * FROM computed_stats;
RENAME TABLE stats TO stats_old, stats_new TO stats;
DROP TABLE stats_old;
