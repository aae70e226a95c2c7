"""add roles"""
from alembic import op
import sqlalchemy as sa

revision = "ab12"
down_revision = "aa11"


def upgrade():
    t = op.create_table("roles", sa.Column("id", sa.Integer, primary_key=True), sa.Column("name", sa.String))
    op.bulk_insert(t, [{"name": "admin"}, {"name": "user"}])
    op.execute("INSERT INTO user_roles SELECT id, 1 FROM users")


def downgrade():
    op.drop_table("roles")