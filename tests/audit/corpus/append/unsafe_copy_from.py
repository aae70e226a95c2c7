import io

import psycopg2


def load(df, conn):
    buffer = io.StringIO()
    df.to_csv(buffer, index=False, header=False)
    buffer.seek(0)
    cur = conn.cursor()
    cur.copy_from(buffer, "measurements", sep=",")  # expect: SW101
    conn.commit()
