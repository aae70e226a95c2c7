import sqlite3
from telegram.ext import Application, CommandHandler

db = sqlite3.connect("notes.db", check_same_thread=False)


async def add(update, context):
    db.execute("INSERT INTO notes (chat, text) VALUES (?, ?)", (update.effective_chat.id, " ".join(context.args)))
    db.commit()
    await update.message.reply_text("saved")


app = Application.builder().token("x").build()
app.add_handler(CommandHandler("add", add))
app.run_polling()
