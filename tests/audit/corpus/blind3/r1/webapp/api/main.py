from fastapi import FastAPI, Depends
from sqlalchemy.orm import Session
from .db import get_db, models

app = FastAPI()


@app.post("/users")
def create_user(name: str, email: str, db: Session = Depends(get_db)):
    user = models.User(name=name, email=email)
    db.add(user)
    db.commit()
    db.refresh(user)
    return user


@app.post("/users/{user_id}/audit")
def audit(user_id: int, what: str, db: Session = Depends(get_db)):
    db.execute("INSERT INTO audit_log (user_id, what) VALUES (:u, :w)", {"u": user_id, "w": what})
    db.commit()


@app.delete("/users/{user_id}")
def drop(user_id: int, db: Session = Depends(get_db)):
    db.query(models.User).filter(models.User.id == user_id).delete()
    db.commit()