import asyncio
import csv
import asyncpg


async def main(path: str) -> None:
    conn = await asyncpg.connect("postgresql://localhost/dwh")
    with open(path) as handle:
        records = [tuple(row) for row in csv.reader(handle)]
    # expect: SW101
    await conn.copy_records_to_table("measurements", records=records, columns=["station", "at", "value"])
    await conn.close()


asyncio.run(main("measurements.csv"))
