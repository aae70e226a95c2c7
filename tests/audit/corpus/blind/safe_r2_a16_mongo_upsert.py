from pymongo import MongoClient, UpdateOne

db = MongoClient()["shop"]


def sync(products):
    db.products.bulk_write([UpdateOne({"_id": p["id"]}, {"$set": p}, upsert=True) for p in products])
