import sqlalchemy as sa

engine = sa.create_engine("postgresql://db/dw")

with engine.connect() as conn:
    conn.execute("DELETE FROM kpi WHERE day = 1")  # expect: SW201 note
    conn.execute("INSERT INTO kpi SELECT day, 1 FROM x WHERE day = 1")
