import aiohttp
import asyncio


async def ask(session, q):
    async with session.post("https://api.test/graphql", json={"query": q}) as r:
        return await r.json()


async def upload(session, path):
    async with session.put(f"https://store.test/{path}", data=open(path, "rb")) as r:
        r.raise_for_status()


async def main():
    async with aiohttp.ClientSession() as s:
        await ask(s, "{ a }")
asyncio.run(main())