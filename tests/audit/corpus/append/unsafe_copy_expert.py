import psycopg2


def load_csv(path):
    conn = psycopg2.connect("dbname=dw")
    cur = conn.cursor()
    with open(path) as f:
        cur.copy_expert("COPY sales.transactions FROM STDIN WITH (FORMAT csv, HEADER true)", f)  # expect: SW101
    conn.commit()
