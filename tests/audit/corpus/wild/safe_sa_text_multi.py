import sqlalchemy as sa

engine = sa.create_engine("postgresql://db/dw")

with engine.connect() as conn:
    conn.execute(sa.text("DELETE FROM kpi WHERE day = :d"), {"d": 1})
    conn.execute(sa.text("INSERT INTO kpi SELECT day, 1 FROM x WHERE day = :d"), {"d": 1})
    conn.commit()
