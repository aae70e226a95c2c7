from dataclasses import dataclass
import psycopg


@dataclass
class EventStore:
    conn: psycopg.Connection

    def append(self, stream: str, version: int, kind: str, data: str) -> None:
        self.conn.execute(
            # expect: SW103 note
            "INSERT INTO events (stream, version, kind, data) VALUES (%s, %s, %s, %s)", (stream, version, kind, data)
        )

    def read(self, stream: str):
        return self.conn.execute("SELECT * FROM events WHERE stream = %s ORDER BY version", (stream,)).fetchall()
