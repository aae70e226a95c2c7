from sqlmodel import SQLModel, Field, Session, create_engine, select
from sqlalchemy.dialects.postgresql import insert

engine = create_engine("postgresql://x")


class Item(SQLModel, table=True):
    sku: str = Field(primary_key=True)
    price: float


def sync(rows):
    stmt = insert(Item).values(rows)
    stmt = stmt.on_conflict_do_update(index_elements=[Item.sku], set_={"price": stmt.excluded.price})
    with Session(engine) as s:
        s.exec(stmt)
        s.commit()


def one_by_one(rows):
    with Session(engine) as s:
        for r in rows:
            s.merge(Item(**r))
        s.commit()


def get_or_create(sku):
    with Session(engine) as s:
        it = s.exec(select(Item).where(Item.sku == sku)).first()
        if it is None:
            it = Item(sku=sku, price=0)
            s.add(it)
            s.commit()
        return it