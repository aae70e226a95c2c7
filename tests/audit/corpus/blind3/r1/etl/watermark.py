import json
import pathlib
import psycopg2
from psycopg2.extras import execute_values

STATE = pathlib.Path("state.json")


def read_state():
    return json.loads(STATE.read_text()) if STATE.exists() else {"last_id": 0}


def save_state(s):
    STATE.write_text(json.dumps(s))


def sync(src_dsn, dst_dsn):
    state = read_state()
    with psycopg2.connect(src_dsn) as src, src.cursor() as c:
        c.execute("select id, body from messages where id > %s order by id", (state["last_id"],))
        rows = c.fetchall()
    if not rows:
        return 0
    save_state({"last_id": rows[-1][0]})  # expect: SW403
    with psycopg2.connect(dst_dsn) as dst, dst.cursor() as c:
        execute_values(c, "insert into messages (id, body) values %s on conflict (id) do update set body = excluded.body", rows)
    return len(rows)