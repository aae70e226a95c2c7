import pymysql


def store(items):
    conn = pymysql.connect(host="localhost", db="crawl")
    with conn:
        with conn.cursor() as cur:
            for item in items:
                cur.execute("REPLACE INTO page (url, title, fetched) VALUES (%s, %s, NOW())", (item["url"], item["title"]))
            cur.executemany("INSERT IGNORE INTO link (src, dst) VALUES (%s, %s)", [(i["url"], l) for i in items for l in i["links"]])
        conn.commit()
