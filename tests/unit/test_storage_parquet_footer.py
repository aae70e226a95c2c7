from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from samewise.storage.parquet_footer import NotParquet, column_names


@pytest.fixture
def nested(tmp_path: Path) -> Path:
    table = pa.table(
        {
            "id": pa.array([1, 2]),
            "st": pa.array([{"a": 1, "b": [{"c": "x"}]}, None]),
            "größe": pa.array(["x", None]),
            "m": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    return tmp_path / "a.parquet"


def test_only_the_outermost_columns_are_named(nested: Path) -> None:
    assert column_names(str(nested)) == ["id", "st", "größe", "m"]


def test_hundreds_of_columns_are_named_in_order(tmp_path: Path) -> None:
    names = [f"c{n}" for n in range(300)]
    pq.write_table(pa.table({name: [1] for name in names}), tmp_path / "a.parquet")
    assert column_names(str(tmp_path / "a.parquet")) == names


def test_a_file_cut_off_anywhere_is_not_parquet(nested: Path, tmp_path: Path) -> None:
    whole = nested.read_bytes()
    cut = tmp_path / "cut.parquet"
    for size in range(0, len(whole), 37):
        cut.write_bytes(whole[:size])
        with pytest.raises(NotParquet):
            column_names(str(cut))


def test_a_footer_of_nonsense_is_not_parquet(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1" + b"\xff" * 40 + (40).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(NotParquet):
        column_names(str(path))
