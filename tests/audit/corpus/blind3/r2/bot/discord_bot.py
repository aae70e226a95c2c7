import logging
import os
import sqlite3
from contextlib import closing
from datetime import datetime

import discord
from discord.ext import commands, tasks

DB = os.path.join(os.path.dirname(__file__), "bot.sqlite")
bot = commands.Bot(command_prefix="!")
log = logging.getLogger("bot")


def init():
    with closing(sqlite3.connect(DB)) as c:
        c.execute("CREATE TABLE IF NOT EXISTS reminders (id INTEGER PRIMARY KEY AUTOINCREMENT, who TEXT, at TEXT, what TEXT)")
        c.commit()


@bot.command()
async def remind(ctx, when: str, *, what: str):
    with closing(sqlite3.connect(DB)) as c:
        c.execute("INSERT INTO reminders (who, at, what) VALUES (?, ?, ?)", (str(ctx.author.id), when, what))
        c.commit()
    await ctx.send("noted")


@bot.event
async def on_message(message):
    conn = sqlite3.connect(DB)
    conn.execute("INSERT INTO messages (author, body) VALUES (?, ?)", (message.author.name, message.content))
    conn.commit()
    conn.close()


@tasks.loop(minutes=1)
async def due():
    with closing(sqlite3.connect(DB)) as c:
        rows = c.execute("SELECT id, who, what FROM reminders WHERE at <= ?", (datetime.now().isoformat(),)).fetchall()
        for id_, who, what in rows:
            user = await bot.fetch_user(int(who))
            await user.send(what)
            c.execute("DELETE FROM reminders WHERE id = ?", (id_,))
        c.commit()


init()
bot.run(os.environ["TOKEN"])