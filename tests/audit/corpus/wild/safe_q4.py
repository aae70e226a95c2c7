import sqlalchemy as sa
from sqlalchemy.dialects.mysql import insert
def up(engine, table, rows):
    stmt = insert(table).values(rows)
    stmt = stmt.on_duplicate_key_update(v=stmt.inserted.v)
    with engine.begin() as c:
        c.execute(stmt)
