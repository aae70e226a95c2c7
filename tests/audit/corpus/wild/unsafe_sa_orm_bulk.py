from sqlalchemy.orm import Session
from sqlalchemy import create_engine, insert
from models import Reading

engine = create_engine("postgresql://x")


def load_readings(rows):
    with Session(engine) as session:
        session.execute(insert(Reading), rows)  # expect: SW103
        session.commit()
