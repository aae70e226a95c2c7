import sqlite3
from flask import Flask, g, redirect, request

app = Flask(__name__)


def db():
    if "db" not in g:
        g.db = sqlite3.connect("app.db")
    return g.db


@app.route("/create", methods=["POST"])
def create():
    db().execute("INSERT INTO post (title, body, author_id) VALUES (?, ?, ?)", (request.form["title"], request.form["body"], 1))
    db().commit()
    return redirect("/")


@app.route("/<int:id>/delete", methods=["POST"])
def delete(id):
    db().execute("DELETE FROM post WHERE id = ?", (id,))
    db().commit()
    return redirect("/")
