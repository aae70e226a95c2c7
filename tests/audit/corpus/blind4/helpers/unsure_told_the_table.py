import psycopg2


class Warehouse:
    def __init__(self, dsn):
        self.connection = psycopg2.connect(dsn)

    def bulk(self, table, handle):
        cursor = self.connection.cursor()
        cursor.copy_expert(f"COPY {table} FROM STDIN WITH CSV", handle)  # expect: SW101 note
        self.connection.commit()


def put(frame, table, engine):
    frame.to_sql(table, engine, if_exists="append", index=False)  # expect: SW101 note


def fill(cursor, target, source):
    cursor.execute(f"INSERT INTO {target} SELECT * FROM {source}")  # expect: SW102 note
