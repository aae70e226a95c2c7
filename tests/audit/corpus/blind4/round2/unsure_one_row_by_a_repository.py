from psycopg2.extras import RealDictCursor


class Visits:
    def __init__(self, pool):
        self.pool = pool

    def add(self, visit):
        with self.pool.connection() as connection, connection.cursor(cursor_factory=RealDictCursor) as cursor:
            # expect: SW103 note
            cursor.execute("INSERT INTO visits (shop, seen_at) VALUES (%s, %s)", (visit.shop, visit.seen_at))
