import aiohttp
async def send(events):
    async with aiohttp.ClientSession() as session:
        for e in events:
            async with session.post("https://api.crm.com/v1/leads", json=e) as r:  # expect: SW601 note
                await r.json()
