import pyodbc


def load(day):
    conn = pyodbc.connect("DSN=dw")
    cur = conn.cursor()
    sql = "INSERT INTO FactVisits (day, visits) "
    sql += "SELECT day, COUNT(*) FROM visits "
    sql += "WHERE day = '" + day + "' GROUP BY day"
    cur.execute(sql)  # expect: SW102
    conn.commit()
