import asyncpg


async def refresh(pool, day, rows):
    async with pool.acquire() as conn:
        await conn.execute("DELETE FROM daily_totals WHERE day = $1", day)  # expect: SW201
        await conn.executemany("INSERT INTO daily_totals (day, shop, total) VALUES ($1, $2, $3)", rows)


async def load_prices(rows):
    conn = await asyncpg.connect("postgresql://etl@db/prices")
    try:
        await conn.executemany(
            "INSERT INTO price_history (sku, price, seen_at) VALUES ($1, $2, $3)",  # expect: SW103
            rows,
        )
    finally:
        await conn.close()