from aiohttp import web
import aiosqlite


async def add(request):
    data = await request.json()
    async with aiosqlite.connect("x.db") as db:
        await db.execute("insert into todo (title) values (?)", (data["title"],))
        await db.commit()
    return web.json_response({"ok": True})


async def replace_all(request):
    data = await request.json()
    async with aiosqlite.connect("x.db") as db:
        await db.execute("delete from todo")
        await db.executemany("insert into todo (title) values (?)", [(t,) for t in data])
        await db.commit()
    return web.json_response({"ok": True})

app = web.Application()
app.add_routes([web.post("/add", add), web.put("/all", replace_all)])