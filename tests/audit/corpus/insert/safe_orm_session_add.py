from flask import Blueprint, request
from .models import User, db

users = Blueprint("users", __name__)


@users.route("/users", methods=["POST"])
def create():
    user = User(name=request.json["name"])
    db.session.add(user)
    db.session.commit()
    return {"id": user.id}
