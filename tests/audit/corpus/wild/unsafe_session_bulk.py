from sqlalchemy import create_engine
from sqlalchemy.orm import Session
from models import Order
engine = create_engine("postgresql://x")
def load(rows):
    with Session(engine) as s:
        s.bulk_insert_mappings(Order, rows)  # expect: SW103
        s.commit()
