"""seed roles

Revision ID: 8a1b
"""
from alembic import op
import sqlalchemy as sa

revision = "8a1b"
down_revision = "77c0"


def upgrade():
    roles = sa.table("role", sa.column("id", sa.Integer), sa.column("name", sa.String))
    op.bulk_insert(roles, [{"id": 1, "name": "admin"}, {"id": 2, "name": "viewer"}])
    op.execute("INSERT INTO user_role SELECT id, 2 FROM users")


def downgrade():
    op.execute("DELETE FROM user_role")
    op.execute("DELETE FROM role")
