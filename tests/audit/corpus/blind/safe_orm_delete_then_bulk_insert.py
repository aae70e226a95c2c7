import csv
from sqlalchemy.orm import Session
from .models import Daily


def reload(session: Session, day, path):
    with open(path) as handle:
        rows = list(csv.DictReader(handle))
    session.query(Daily).filter(Daily.day == day).delete()
    session.bulk_insert_mappings(Daily, rows)
    session.commit()
