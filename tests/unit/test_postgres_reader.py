"""What Spark's workers run: it travels by itself, and says what went wrong in one line."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
import pytest
from pyspark import cloudpickle

from samewise.sources import postgres_reader
from samewise.sources.postgres_reader import MARK, Reading, Told, as_function, explained, finished

_LOAD = """
import pickle, sys
sys.modules["samewise"] = None
read = pickle.loads(sys.stdin.buffer.read())
try:
    list(read([__import__("pyarrow").RecordBatch.from_pydict({"id": [0]})]))
except RuntimeError as error:
    print(error)
"""


def test_a_worker_needs_no_samewise() -> None:
    cloudpickle.register_pickle_by_value(postgres_reader)  # type: ignore[no-untyped-call]
    reading = Reading("host=127.0.0.1 port=1 password=geheim", "0-1", ("SELECT 1",), (Told("a", "int"),))
    sent = cloudpickle.dumps(as_function(reading))  # type: ignore[no-untyped-call]
    done = subprocess.run([sys.executable, "-c", _LOAD], input=sent, capture_output=True, check=False)
    said = done.stdout.decode()
    assert said.startswith(f"{MARK}[transient]"), done.stderr.decode()
    assert "Connection refused" in said
    assert "geheim" not in said


def test_a_reading_does_not_show_its_password() -> None:
    assert "geheim" not in repr(Reading("password=geheim", "1", (), ()))


@pytest.mark.parametrize(
    ("said", "state", "kind"),
    [
        ('INVALID_DATA: ERROR:  invalid snapshot identifier: "x"', "22023", "gone"),
        ('ERROR:  relation "t" does not exist', "42P01", "gone"),
        ("IO: [libpq] Failed to connect: Connection refused", None, "transient"),
        ('FATAL:  password authentication failed for user "x"', None, "settings"),
        ("ERROR:  permission denied for table t", "42501", "settings"),
        ("[libpq] FATAL:  terminating connection due to administrator command", None, "transient"),
        ("ERROR:  canceling statement due to conflict with recovery", None, "transient"),
        ("ERROR:  division by zero", None, "refused"),
        (f'ERROR:  invalid input syntax for type date: "{MARK}[refused] d holds infinity {MARK}."', None, "refused"),
    ],
)
def test_a_failure_is_told_by_its_kind(said: str, state: str | None, kind: str) -> None:
    assert explained(said, state).startswith(f"{MARK}[{kind}] ")


def test_a_number_that_does_not_fit_is_named() -> None:
    batch = pa.RecordBatch.from_pydict({"a": ["1.50", "NaN"]})
    with pytest.raises(ValueError, match="a holds NaN, which Spark's decimal"):
        finished(batch, [Told("a", "decimal(5,2)")])


def test_text_of_an_unknown_encoding_is_checked() -> None:
    bad = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(b"\x00\x00\x00\x00\x01\x00\x00\x00"), pa.py_buffer(b"\xff")]
    )
    batch = pa.RecordBatch.from_arrays([bad], names=["a"])
    with pytest.raises(ValueError, match="not UTF-8"):
        finished(batch, [Told("a", "string")], checks_text=True)
