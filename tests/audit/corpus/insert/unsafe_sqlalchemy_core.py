from sqlalchemy import MetaData, Table, create_engine, insert

engine = create_engine("postgresql://db/dw")
events = Table("events", MetaData(), autoload_with=engine)


def load(rows):
    with engine.begin() as conn:
        conn.execute(insert(events), [dict(r) for r in rows])  # expect: SW103
