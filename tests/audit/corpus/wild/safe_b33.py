from flask import Flask, request
import sqlite3
app = Flask(__name__)
@app.route("/add", methods=["POST"])
def add():
    con = sqlite3.connect("x.db")
    con.execute("INSERT INTO todo (text) VALUES (?)", (request.form["t"],))
    con.commit()
    return "ok"
