import sqlite3
from flask import Flask, g, request, redirect

app = Flask(__name__)


def get_db():
    if "db" not in g:
        g.db = sqlite3.connect("blog.db")
    return g.db


@app.route("/create", methods=("GET", "POST"))
def create():
    if request.method == "POST":
        db = get_db()
        db.execute("INSERT INTO post (title, body, author_id) VALUES (?, ?, ?)", (request.form["title"], request.form["body"], g.user["id"]))
        db.commit()
        return redirect("/")
    return "form"


@app.route("/<int:id>/delete", methods=("POST",))
def delete(id):
    db = get_db()
    db.execute("DELETE FROM post WHERE id = ?", (id,))
    db.commit()
    return redirect("/")