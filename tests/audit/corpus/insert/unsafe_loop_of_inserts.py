import mysql.connector


def import_orders(orders):
    db = mysql.connector.connect(host="db", database="shop")
    cursor = db.cursor()
    for order in orders:
        sql = "INSERT INTO orders (order_id, total) VALUES (%s, %s)"  # expect: SW103
        cursor.execute(sql, (order["id"], order["total"]))
    db.commit()
