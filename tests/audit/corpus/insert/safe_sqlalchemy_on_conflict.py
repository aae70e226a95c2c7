from sqlalchemy import MetaData, Table, create_engine
from sqlalchemy.dialects.postgresql import insert

engine = create_engine("postgresql://db/dw")
products = Table("products", MetaData(), autoload_with=engine)


def load(rows):
    stmt = insert(products).values(rows)
    stmt = stmt.on_conflict_do_update(index_elements=["sku"], set_={"price": stmt.excluded.price})
    with engine.begin() as conn:
        conn.execute(stmt)
