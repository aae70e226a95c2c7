from celery import Celery
from sqlalchemy import text
from .db import engine, Session
from .models import Invoice, Email

app = Celery("x")


@app.task(autoretry_for=(Exception,), retry_backoff=True, max_retries=5)
def send_invoice(invoice_id):
    with Session() as s:
        inv = s.get(Invoice, invoice_id)
        if inv.sent_at:
            return
        mail(inv)
        inv.sent_at = inv.now()
        s.commit()


@app.task(bind=True, max_retries=3)  # expect: SW501
def add_points(self, user_id, points):
    with engine.begin() as c:
        c.execute(text("UPDATE users SET points = points + :p WHERE id = :u"), {"p": points, "u": user_id})  # expect: SW105


@app.task(acks_late=True, autoretry_for=(IOError,), max_retries=3)  # expect: SW501
def rollup(day):
    with engine.begin() as c:
        c.execute(text("INSERT INTO usage_daily SELECT :d, user_id, count(*) FROM usage WHERE day = :d GROUP BY user_id"), {"d": day})  # expect: SW102


def mail(inv):
    pass