"""Column types as Spark spells them."""

import re

import pytest

from samewise.spec.column_types import parse_column_type


@pytest.mark.parametrize(
    ("written", "spelled"),
    [
        ("BIGINT", "bigint"),
        ("long", "bigint"),
        ("integer", "int"),
        ("Dec(12, 2)", "decimal(12,2)"),
        ("numeric(5)", "decimal(5,0)"),
        ("decimal", "decimal(10,0)"),
        ("timestamp_ltz", "timestamp"),
        ("array< string >", "array<string>"),
        ("map<string, array<int>>", "map<string,array<int>>"),
        ("struct<a: int, b string>", "struct<a:int,b:string>"),
        ("struct<`odd name`: int, `plain`: date>", "struct<`odd name`:int,plain:date>"),
        ("array<struct<k:map<string,decimal(38,38)>>>", "array<struct<k:map<string,decimal(38,38)>>>"),
    ],
)
def test_a_type_is_brought_into_sparks_spelling(written: str, spelled: str) -> None:
    assert parse_column_type(written) == spelled
    assert parse_column_type(spelled) == spelled


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("bigit", "did you mean 'bigint'"),
        ("", "not finished"),
        ("decimal(39,2)", "1 to 38 digits"),
        ("decimal(0)", "1 to 38 digits"),
        ("decimal(3,4)", "more decimals than digits"),
        ("decimal(3", "expected ')'"),
        ("array", "expected '<'"),
        ("array<int", "expected '>'"),
        ("array<int>>", "too much"),
        ("map<string>", "expected ','"),
        ("map<map<int,int>,int>", "key of a map"),
        ("struct<>", "field's name"),
        ("struct<a:int,A:int>", "twice"),
        ("varchar(10)", "use string"),
        ("int; drop table x", "not part of a type"),
        ("array<" * 60 + "int" + ">" * 60, "nested too deeply"),
    ],
)
def test_a_type_that_spark_does_not_know_is_refused(written: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        parse_column_type(written)
