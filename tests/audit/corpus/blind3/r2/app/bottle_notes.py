from bottle import post, request, run
import pymysql

db = pymysql.connect(host="localhost", user="n", database="notes")


@post("/note")
def note():
    with db.cursor() as c:
        c.execute("INSERT INTO note (body) VALUES (%s)", (request.forms.get("body"),))
    db.commit()
    return "ok"


run(port=8080)