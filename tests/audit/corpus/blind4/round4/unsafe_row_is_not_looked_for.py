import csv

from models import ShopVisit
from sqlalchemy import insert
from sqlalchemy.orm import Session


def load(engine, path):
    with Session(engine) as session, session.begin():
        for row in csv.DictReader(open(path)):
            session.execute(insert(ShopVisit).values(**row))  # expect: SW103
