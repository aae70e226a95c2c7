import csv

from models import Shop
from sqlalchemy.orm import Session


def load(engine, path):
    with Session(engine) as session, open(path) as lines:
        session.add_all(Shop(code=row["code"]) for row in csv.DictReader(lines))  # expect: SW103
        session.commit()


def load_slowly(engine, path):
    with Session(engine) as session, open(path) as lines:
        for row in csv.DictReader(lines):
            session.add(Shop(code=row["code"]))  # expect: SW103
        session.commit()
