import MySQLdb
db = MySQLdb.connect("localhost", "u", "p", "db")
cursor = db.cursor()
import csv
with open("x.csv") as f:
    for row in csv.reader(f):
        sql = "INSERT INTO sales(id, amt) VALUES('%s', '%s')" % (row[0], row[1])  # expect: SW103
        try:
            cursor.execute(sql)
            db.commit()
        except Exception as e:
            print(e)
            db.rollback()
