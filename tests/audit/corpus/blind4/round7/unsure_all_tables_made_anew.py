import pandas as pd
from models import Base, ShopVisit
from sqlalchemy import create_engine
from sqlalchemy.orm import Session

engine = create_engine("postgresql:///shop")


def rebuild():
    Base.metadata.drop_all(bind=engine)
    Base.metadata.create_all(bind=engine)
    with Session(engine) as session:
        session.bulk_insert_mappings(ShopVisit, pd.read_csv("visits.csv").to_dict("records"))  # expect: SW103 note
        session.commit()


rebuild()
