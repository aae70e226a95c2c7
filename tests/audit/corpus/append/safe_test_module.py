import pytest
import pandas as pd


@pytest.fixture
def orders(engine):
    pd.DataFrame({"id": [1]}).to_sql("orders", engine, if_exists="append")


def test_it(orders):
    assert orders is None
