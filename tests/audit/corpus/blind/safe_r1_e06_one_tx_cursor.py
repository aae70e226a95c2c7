import mysql.connector


def refresh(rows, day):
    db = mysql.connector.connect(host="db", user="etl", database="mart")
    try:
        cursor = db.cursor()
        cursor.execute("DELETE FROM daily_kpi WHERE day = %s", (day,))
        cursor.executemany("INSERT INTO daily_kpi (day, name, value) VALUES (%s, %s, %s)", rows)
        db.commit()
    except Exception:
        db.rollback()
        raise
    finally:
        db.close()
