"""YAML text -> values and lines."""

from datetime import date

import pytest

from samewise.spec.yaml_text import Document, read_yaml


def read(text: str) -> Document:
    return read_yaml(text.encode())


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "empty"),
        ("# nothing\n", 1, "empty"),
        ("- a\n- b\n", 1, "not a list"),
        ("just text\n", 1, "not a single value"),
        ("a: 1\n\tb: 2\n", 2, "tab"),
        ("a: 1\nb: 'x\n", 3, "not YAML"),
        ("a: 1\nb: ]\n", 2, "not YAML"),
        ("a: 1\nb: 2\na: 3\n", 3, "a: written twice, first in line 1"),
        ("x:\n  a: 1\n  a: 3\n", 3, "x.a: written twice, first in line 2"),
        ("a: &here 1\n", 1, "anchors"),
        ("a: 1\nb: *here\n", 2, "anchors"),
        ("a:\n  <<: {b: 1}\n", 2, "merge keys"),
        ("a: !!python/object:os.system 1\n", 1, "tags"),
        ("a: 1\n---\nb: 2\n", 2, "second document"),
        ("? [a, b]\n: 1\n", 1, "key must be plain text"),
        ("a: {b: {{ c }}.csv}\n", 1, "in quotes"),
        ("a: 1\nb: {{ c }}\n", 2, "in quotes"),
        ("a: \x07\n", 1, "does not allow"),
        ("a: " + "[" * 60 + "]" * 60, 1, "nested too deeply"),
    ],
)
def test_a_file_that_is_hard_to_read_is_a_problem_with_its_line(text: str, line: int, words: str) -> None:
    found = [(at, sentence) for at, sentence in read(text).problems if words in sentence]

    assert [at for at, _ in found] == [line]


def test_bytes_that_are_not_utf8_are_a_problem_with_their_line() -> None:
    assert read_yaml(b"a: 1\nb: \xff\n").problems == ((2, "not UTF-8: save the file as UTF-8"),)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("true", True),
        ("0123", "0123"),
        ("12:30:00", "12:30:00"),
        ("1_000", "1_000"),
        ("15", 15),
        ("-1.5", -1.5),
        ("1e3", 1000.0),
        ("2026-04-01", date(2026, 4, 1)),
        ("2026-13-01", "2026-13-01"),
        ("'15'", "15"),
        ("~", None),
        ("", None),
        ("15m", "15m"),
    ],
)
def test_a_value_means_what_it_looks_like(text: str, value: object) -> None:
    document = read(f"a: {text}\n")

    assert document.value == {"a": value}
    assert type((document.value or {})["a"]) is type(value)


def test_a_key_is_always_text() -> None:
    assert read("no: 1\n1: 2\n").value == {"no": 1, "1": 2}


def test_a_byte_order_mark_is_not_part_of_the_first_key() -> None:
    assert read_yaml(b"\xef\xbb\xbfa: 1\n").value == {"a": 1}


def test_keys_and_values_know_their_lines() -> None:
    places = read("a:\n  b:\n    - 1\n    - c: 2\n").places

    assert places.line(("a", "b", 0)) == 3
    assert places.line(("a", "b", 1, "c")) == 4
    assert places.line(("a", "b")) == 2


def test_what_is_not_there_has_the_line_of_what_would_hold_it() -> None:
    assert read("a: 1\nb:\n  c: 2\n").places.line(("b", "missing", "deeper")) == 2
