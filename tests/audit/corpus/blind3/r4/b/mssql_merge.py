import pyodbc


def sync(rows):
    cn = pyodbc.connect("DSN=x", autocommit=False)
    cur = cn.cursor()
    cur.fast_executemany = True
    cur.execute("CREATE TABLE #s (id INT, v FLOAT)")
    cur.executemany("INSERT INTO #s (id, v) VALUES (?, ?)", rows)
    cur.execute("""
        MERGE dbo.t AS t USING (SELECT id, MAX(v) v FROM #s GROUP BY id) AS s ON t.id = s.id
        WHEN MATCHED THEN UPDATE SET v = s.v
        WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v);
    """)
    cn.commit()