import discord
import sqlite3

client = discord.Client()
conn = sqlite3.connect("bot.db")


@client.event
async def on_message(message):
    c = conn.cursor()
    c.execute("INSERT INTO messages (author, content) VALUES (?, ?)", (str(message.author), message.content))
    conn.commit()
