from app import model
from sqlalchemy import desc


async def picture_upload(picture, members, db):
    db.bulk_insert_mappings(model.Seen, [{"picture": picture, "member": one.id} for one in members])  # expect: SW103 note
    db.commit()


async def newest(db):
    return db.query(model.Seen).order_by(desc(model.Seen.id)).first()
