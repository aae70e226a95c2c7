import psycopg2
def main():
    conn = psycopg2.connect("")
    cur = conn.cursor()
    cur.execute("DROP TABLE IF EXISTS songplays")
    cur.execute("CREATE TABLE songplays (id serial primary key, ts timestamp)")
    cur.execute("INSERT INTO songplays (ts) SELECT ts FROM staging_events")
    conn.commit()
