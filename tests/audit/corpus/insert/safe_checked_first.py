import sqlite3


def store(items):
    conn = sqlite3.connect("news.db")
    cur = conn.cursor()
    for item in items:
        cur.execute("SELECT 1 FROM articles WHERE url = ?", (item["url"],))
        if cur.fetchone() is None:
            cur.execute("INSERT INTO articles (url, title) VALUES (?, ?)", (item["url"], item["title"]))
    conn.commit()
