import polars as pl
from models import Shop
from sqlalchemy import create_engine
from sqlalchemy.orm import Session


def load():
    with Session(create_engine("postgresql:///shop")) as session:
        session.bulk_insert_mappings(Shop, pl.read_csv("shops.csv").to_dicts())  # expect: SW103
        session.commit()


load()
