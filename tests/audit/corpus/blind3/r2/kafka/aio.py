import asyncio
from aiokafka import AIOKafkaProducer, AIOKafkaConsumer


async def relay():
    prod = AIOKafkaProducer(bootstrap_servers="k", transactional_id="relay-1")
    cons = AIOKafkaConsumer("in", bootstrap_servers="k", group_id="g", enable_auto_commit=False, isolation_level="read_committed")
    await prod.start()
    await cons.start()
    async for m in cons:
        async with prod.transaction():
            await prod.send("out", value=m.value, key=m.key)
            await prod.send_offsets_to_transaction({}, "g")

asyncio.run(relay())