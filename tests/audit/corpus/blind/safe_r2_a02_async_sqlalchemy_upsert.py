from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.models import Device


async def save(session: AsyncSession, devices: list[dict]) -> None:
    stmt = insert(Device).values(devices)
    stmt = stmt.on_conflict_do_update(index_elements=[Device.serial], set_={"seen_at": stmt.excluded.seen_at})
    await session.execute(stmt)
    await session.commit()
