from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from samewise.storage.parquet_footer import NotParquet, signature


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


def signed(folder: Path, table: pa.Table) -> str:
    pq.write_table(table, folder / "b.parquet")
    return signature(str(folder / "b.parquet"))


def test_files_with_the_same_columns_have_the_same_signature(nested: Path, tmp_path: Path) -> None:
    assert signed(tmp_path, pq.read_table(nested).slice(1)) == signature(str(nested))


@pytest.mark.parametrize(
    "other",
    [
        pa.table({"a": [1], "c": ["x"]}),
        pa.table({"b": ["x"], "a": [1]}),
        pa.table({"a": pa.array([1], pa.int32()), "b": ["x"]}),
        pa.table({"a": [1], "b": pa.array([b"x"])}),
        pa.table({"a": [1], "b": ["x"], "c": [1]}),
        pa.table({"a": [1]}),
    ],
    ids=["renamed", "moved", "narrowed", "bytes for text", "added", "removed"],
)
def test_files_with_other_columns_have_other_signatures(tmp_path: Path, other: pa.Table) -> None:
    assert signed(tmp_path, other) != signed(tmp_path, pa.table({"a": [1], "b": ["x"]}))


@pytest.mark.parametrize("unit", ["us", "ms"])
def test_a_timestamp_with_a_zone_is_told_from_one_without(tmp_path: Path, unit: str) -> None:
    def stamps(zone: str | None) -> pa.Table:
        return pa.table({"at": pa.array([0], pa.timestamp(unit, zone))})

    assert signed(tmp_path, stamps("UTC")) != signed(tmp_path, stamps(None))


def test_a_field_deep_inside_makes_another_signature(tmp_path: Path) -> None:
    one, other = (pa.table({"s": pa.array([{"a": [{name: 1}]}])}) for name in ("b", "c"))
    assert signed(tmp_path, one) != signed(tmp_path, other)


def test_a_file_cut_off_anywhere_is_not_parquet(nested: Path, tmp_path: Path) -> None:
    whole = nested.read_bytes()
    cut = tmp_path / "cut.parquet"
    for size in range(0, len(whole), 37):
        cut.write_bytes(whole[:size])
        with pytest.raises(NotParquet):
            signature(str(cut))


def test_a_footer_of_nonsense_is_not_parquet(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1" + b"\xff" * 40 + (40).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(NotParquet):
        signature(str(path))
