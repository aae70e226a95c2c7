import mysql.connector


def refresh(rows, day):
    db = mysql.connector.connect(host="db", user="etl", database="mart")
    cursor = db.cursor()
    # expect: SW201
    cursor.execute("DELETE FROM daily_kpi WHERE day = %s", (day,))
    db.commit()
    cursor.executemany("INSERT INTO daily_kpi (day, name, value) VALUES (%s, %s, %s)", rows)
    db.commit()
