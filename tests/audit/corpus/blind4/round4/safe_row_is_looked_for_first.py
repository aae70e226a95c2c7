from models import ShopVisit
from sqlalchemy import insert
from sqlalchemy.orm import Session


def keep(engine, rows):
    with Session(engine) as session, session.begin():
        for row in rows:
            known = session.query(ShopVisit).filter_by(visit=row["visit"]).one_or_none()
            if known is None:
                session.execute(insert(ShopVisit).values(**row))
