import sqlite3


def load(rows):
    con = sqlite3.connect("x.db")
    for r in rows:
        try:
            con.execute("INSERT INTO users (email, name) VALUES (?, ?)", r)
        except sqlite3.IntegrityError:
            con.execute("UPDATE users SET name = ? WHERE email = ?", (r[1], r[0]))
    con.commit()