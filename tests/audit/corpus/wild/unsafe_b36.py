def nightly(cur, conn):
    cur.execute("INSERT INTO hits SELECT * FROM hits_in")  # expect: SW102
    conn.commit()
    cur.execute("DELETE FROM hits WHERE id NOT IN (SELECT MIN(id) FROM hits GROUP BY session_id, url, ts)")  # expect: SW104
    conn.commit()
