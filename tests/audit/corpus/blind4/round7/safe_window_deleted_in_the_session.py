from models import DailyVisits
from sqlalchemy import delete
from sqlalchemy.orm import Session


def refresh(session: Session, day, rows):
    session.execute(delete(DailyVisits).where(DailyVisits.day == day))
    if rows:
        session.bulk_insert_mappings(DailyVisits, rows)
    session.commit()
