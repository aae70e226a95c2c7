import pandas as pd
import pytest
from sqlalchemy import create_engine, text


@pytest.fixture
def engine():
    made = create_engine("sqlite://")
    with made.begin() as conn:
        conn.execute(text("CREATE TABLE t (a int)"))
        conn.execute(text("INSERT INTO t VALUES (1), (2)"))
    return made


def test_append(engine):
    pd.DataFrame({"a": [3]}).to_sql("t", engine, if_exists="append", index=False)
    assert pd.read_sql("SELECT count(*) AS n FROM t", engine).n[0] == 3
