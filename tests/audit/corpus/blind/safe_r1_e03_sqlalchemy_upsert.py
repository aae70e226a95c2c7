from sqlalchemy import MetaData, Table, create_engine
from sqlalchemy.dialects.postgresql import insert

engine = create_engine("postgresql://localhost/dwh")
meta = MetaData()
accounts = Table("accounts", meta, autoload_with=engine)


def upsert(rows: list[dict]) -> None:
    stmt = insert(accounts)
    stmt = stmt.on_conflict_do_update(
        index_elements=["id"], set_={c.name: stmt.excluded[c.name] for c in accounts.columns if not c.primary_key}
    )
    with engine.begin() as conn:
        conn.execute(stmt, rows)
