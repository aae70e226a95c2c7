import pymysql


def save(rows):
    conn = pymysql.connect(host="h", db="d")
    with conn.cursor() as cur:
        for r in rows:
            n = cur.execute("UPDATE stock SET qty = %s WHERE sku = %s", (r["qty"], r["sku"]))
            if n == 0:
                cur.execute("INSERT INTO stock (sku, qty) VALUES (%s, %s)", (r["sku"], r["qty"]))
    conn.commit()