import asyncio
import asyncpg
import json
import logging

log = logging.getLogger(__name__)


class EventSink:
    def __init__(self, dsn):
        self.dsn = dsn
        self.pool = None

    async def open(self):
        self.pool = await asyncpg.create_pool(self.dsn, min_size=1, max_size=4)

    async def save(self, events):
        async with self.pool.acquire() as conn:
            await conn.executemany(
                "INSERT INTO raw.events (event_id, payload) VALUES ($1, $2) ON CONFLICT (event_id) DO NOTHING",
                [(e["id"], json.dumps(e)) for e in events],
            )

    async def save_metrics(self, rows):
        async with self.pool.acquire() as conn:
            await conn.copy_records_to_table("metrics_raw", records=rows)

    async def replace_day(self, day, rows):
        async with self.pool.acquire() as conn:
            async with conn.transaction():
                await conn.execute("DELETE FROM daily_totals WHERE day = $1", day)
                await conn.executemany("INSERT INTO daily_totals (day, shop, total) VALUES ($1, $2, $3)", rows)


async def main():
    sink = EventSink("postgres://localhost/app")
    await sink.open()
    await sink.save([])

asyncio.run(main())