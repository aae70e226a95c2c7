from sqlalchemy import MetaData, Table, create_engine, delete, insert, select

engine = create_engine("postgresql+psycopg://db/dwh")
meta = MetaData()
daily = Table("daily", meta, autoload_with=engine)
orders = Table("orders", meta, autoload_with=engine)


def run(day):
    with engine.begin() as conn:
        conn.execute(delete(daily).where(daily.c.day == day))
        conn.execute(insert(daily).from_select(["day", "amount"], select(orders.c.day, orders.c.amount).where(orders.c.day == day)))
