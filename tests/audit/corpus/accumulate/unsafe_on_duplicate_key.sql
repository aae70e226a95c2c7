-- expect: SW105
INSERT INTO stats (day, hits) SELECT day, count(*) FROM raw.hits GROUP BY day
ON DUPLICATE KEY UPDATE hits = hits + VALUES(hits);
