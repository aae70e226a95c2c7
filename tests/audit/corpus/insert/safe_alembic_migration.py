"""add countries

Revision ID: 3a1f
"""
from alembic import op

revision = "3a1f"
down_revision = "29b0"


def upgrade():
    op.execute("INSERT INTO countries (code, name) VALUES ('DE', 'Germany')")
    op.execute("INSERT INTO totals SELECT customer_id, SUM(amount) FROM orders GROUP BY 1")


def downgrade():
    op.execute("DELETE FROM countries")
