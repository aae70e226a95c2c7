import asyncpg
async def load(rows):
    conn = await asyncpg.connect("")
    async with conn.transaction():
        await conn.execute("DELETE FROM t")
        await conn.executemany("INSERT INTO t (a) VALUES ($1)", rows)
