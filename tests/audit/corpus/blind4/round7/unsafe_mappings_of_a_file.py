import pandas as pd
from models import ShopVisit
from sqlalchemy import create_engine
from sqlalchemy.orm import Session

engine = create_engine("postgresql:///shop")


def add_file():
    with Session(engine) as session:
        session.bulk_insert_mappings(ShopVisit, pd.read_csv("visits.csv").to_dict("records"))  # expect: SW103
        session.commit()


add_file()
