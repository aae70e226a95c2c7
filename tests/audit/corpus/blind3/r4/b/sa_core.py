import sqlalchemy as sa

engine = sa.create_engine("mysql+pymysql://x/y")
meta = sa.MetaData()
prices = sa.Table("prices", meta, sa.Column("sku", sa.String(20), primary_key=True), sa.Column("price", sa.Float))


def replace(rows):
    with engine.begin() as conn:
        conn.execute(prices.delete())
        conn.execute(prices.insert(), rows)


def only_new(rows):
    with engine.begin() as conn:
        have = {r.sku for r in conn.execute(sa.select(prices.c.sku))}
        fresh = [r for r in rows if r["sku"] not in have]
        if fresh:
            conn.execute(prices.insert(), fresh)