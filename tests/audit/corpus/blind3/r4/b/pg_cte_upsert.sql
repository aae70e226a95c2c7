WITH upd AS (
  UPDATE stats s SET n = i.n FROM incoming i WHERE i.k = s.k RETURNING s.k
)
INSERT INTO stats (k, n) SELECT k, n FROM incoming WHERE k NOT IN (SELECT k FROM upd);