from peewee import SqliteDatabase, Model, CharField, FloatField

db = SqliteDatabase("p.db")


class Price(Model):
    sku = CharField(unique=True)
    price = FloatField()

    class Meta:
        database = db


def sync(rows):
    with db.atomic():
        Price.insert_many(rows).on_conflict_replace().execute()


def wipe():
    with db.atomic():
        Price.delete().execute()
        Price.insert_many([{"sku": "a", "price": 1}]).execute()