from flask import Flask
import psycopg2
app = Flask(__name__)
@app.post("/like")
def like(pid):
    conn = psycopg2.connect("")
    conn.cursor().execute("UPDATE posts SET likes = likes + 5 WHERE id = %s", (pid,))
    conn.commit()
