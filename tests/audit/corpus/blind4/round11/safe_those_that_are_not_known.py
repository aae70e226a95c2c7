import polars as pl
from models import Shop


class Shops:
    def __init__(self, session):
        self.session = session

    def insert(self, frame: pl.DataFrame):
        known = {shop.code for shop in self.session.query(Shop).all()}
        fresh = [row for row in frame.unique().to_dicts() if row["code"] not in known]
        self.session.bulk_insert_mappings(Shop, fresh)
        self.session.commit()
