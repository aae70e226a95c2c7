from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Optional

import psycopg


@dataclass
class Account:
    id: int
    owner: str
    balance: int


class AccountRepository:
    def __init__(self, conn: psycopg.Connection):
        self._conn = conn

    def get(self, id: int) -> Optional[Account]:
        row = self._conn.execute("SELECT id, owner, balance FROM accounts WHERE id = %s", (id,)).fetchone()
        return Account(*row) if row else None

    def add(self, owner: str) -> int:
        return self._conn.execute("INSERT INTO accounts (owner, balance) VALUES (%s, 0) RETURNING id", (owner,)).fetchone()[0]

    def add_many(self, owners: Iterable[str]) -> None:
        with self._conn.cursor() as cur:
            cur.executemany("INSERT INTO accounts (owner, balance) VALUES (%s, 0)", [(o,) for o in owners])  # expect: SW103 note

    def remove(self, id: int) -> None:
        self._conn.execute("DELETE FROM accounts WHERE id = %s", (id,))

    def transfer(self, a: int, b: int, cents: int) -> None:
        with self._conn.transaction():
            self._conn.execute("UPDATE accounts SET balance = balance - %s WHERE id = %s", (cents, a))
            self._conn.execute("UPDATE accounts SET balance = balance + %s WHERE id = %s", (cents, b))
            self._conn.execute("INSERT INTO transfers (src, dst, cents) VALUES (%s, %s, %s)", (a, b, cents))