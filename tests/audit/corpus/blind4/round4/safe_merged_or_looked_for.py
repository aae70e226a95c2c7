import csv

from models import Shop
from sqlalchemy.orm import Session


def load(engine, path):
    with Session(engine) as session, open(path) as lines:
        for row in csv.DictReader(lines):
            session.merge(Shop(code=row["code"]))
        session.commit()


def load_new(engine, path):
    with Session(engine) as session, open(path) as lines:
        for row in csv.DictReader(lines):
            if session.query(Shop).filter_by(code=row["code"]).first() is None:
                session.add(Shop(code=row["code"]))
        session.commit()
