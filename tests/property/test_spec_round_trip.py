"""A spec that is dumped and loaded again is the same spec, and no file can make the loader fall over."""

import string
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from samewise.core.windows import Window
from samewise.spec.dump import dump_spec
from samewise.spec.fields import Scalar
from samewise.spec.files import read_pipeline_file
from samewise.spec.pipeline import RESERVED_PARAMS, PipelineSpec
from samewise.spec.project import ProjectSpec
from samewise.spec.secrets import Secrets
from samewise.spec.templates import references, render, sandbox
from samewise.spec.yaml_text import read_yaml

names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,20}", fullmatch=True)
identifiers = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,10}", fullmatch=True)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=30).filter(
    lambda text: bool(text.strip())
)
columns = texts.filter(lambda name: not name.lower().startswith("_samewise"))
column_lists = st.lists(columns, min_size=1, max_size=3, unique_by=str.lower)
durations = st.builds("{}{}".format, st.integers(1, 999), st.sampled_from(["ms", "s", "m", "h", "d"]))
types = st.sampled_from(["bigint", "STRING", "dec(12,2)", "date", "timestamp", "double"])
scalars = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.dates(min_value=date(1900, 1, 1)),
)
tables = st.one_of(st.fixed_dictionaries({"table": identifiers}), st.fixed_dictionaries({"path": texts}))
options = st.dictionaries(
    st.sampled_from(["quote", "escape", "nullValue"]), st.one_of(texts, st.booleans(), st.integers())
)
files = st.fixed_dictionaries(
    {
        "type": st.just("files"),
        "path": texts,
        "format": st.just("csv"),
        "schema": st.dictionaries(columns, types, min_size=1, max_size=4).filter(
            lambda schema: len({name.lower() for name in schema}) == len(schema)
        ),
    },
    optional={
        "header": st.booleans(),
        "delimiter": st.sampled_from([",", ";", "\t", "|", "ä"]),
        "options": options,
        "on_malformed": st.sampled_from(["refuse", "quarantine"]),
        "manifest": texts,
    },
)
deltas = st.builds(
    lambda table, column: {"type": "delta", **table, **column},
    tables,
    st.one_of(st.just({}), st.fixed_dictionaries({"window_column": columns})),
)
expectations = st.one_of(
    texts,
    st.fixed_dictionaries({"unique": column_lists}),
    st.fixed_dictionaries(
        {"rows": st.fixed_dictionaries({"min": st.integers(0, 5)}, optional={"max": st.integers(5, 9)})}
    ),
)
tasks = st.fixed_dictionaries(
    {
        "task": names,
        "source": st.one_of(files, deltas),
        "target": st.builds(lambda table: {"type": "delta", **table}, tables),
        "write": st.fixed_dictionaries(
            {"strategy": st.sampled_from(["replace_window", "refresh"])},
            optional={"window_column": columns, "on_empty": st.sampled_from(["clear", "fail", "keep"])},
        ),
    },
    optional={
        "depends_on": st.lists(names, max_size=2),
        "transform": texts,
        "inputs": st.dictionaries(identifiers.filter(lambda name: name.lower() != "source"), tables, max_size=2),
        "expect": st.lists(expectations, max_size=3),
    },
)
near_now = st.builds(datetime.combine, st.dates(date(2000, 1, 1), date(2030, 1, 1)), st.times())
moments = st.one_of(
    st.dates(date(2000, 1, 1), date(2030, 1, 1)),
    near_now,
    near_now.map(lambda moment: moment.replace(tzinfo=UTC)),
)
schedules = st.fixed_dictionaries(
    {"every": st.sampled_from(["15m", "60m", "hour", "6h", "24h", "day", "week", "month"]), "start": moments},
    optional={
        "timezone": st.sampled_from(["UTC", "Europe/Berlin", "Asia/Kathmandu"]),
        "end": st.just("2040-01-01"),
    },
)
pipelines = st.fixed_dictionaries(
    {"pipeline": names, "tasks": st.lists(tasks, min_size=1, max_size=3)},
    optional={
        "description": texts,
        "schedule": schedules,
        "retries": st.fixed_dictionaries({}, optional={"attempts": st.integers(1, 9), "backoff": durations}),
        "params": st.dictionaries(
            identifiers.filter(lambda name: name.lower() not in RESERVED_PARAMS), scalars, max_size=3
        ),
    },
)
overlays = {
    "warehouse": texts,
    "state": st.sampled_from(["sqlite:///x.db", "postgres://u@h/d"]),
    "catalog": identifiers,
    "staging": texts,
    "quarantine": texts,
    "lease": durations,
    "spark": st.fixed_dictionaries({}, optional={"remote": texts, "conf": st.dictionaries(texts, scalars, max_size=2)}),
}
projects = st.fixed_dictionaries(
    {"project": names},
    optional={
        **overlays,
        "envs": st.dictionaries(names, st.fixed_dictionaries({}, optional=overlays), max_size=2),
    },
)


def loaded(text: str) -> dict[str, Any]:
    document = read_yaml(text.encode())
    assert document.problems == ()
    assert document.value is not None
    return document.value


@given(pipelines)
def test_a_pipeline_that_is_dumped_and_loaded_is_the_same(raw: dict[str, Any]) -> None:
    spec = PipelineSpec.model_validate(raw)
    again = PipelineSpec.model_validate(loaded(dump_spec(spec)))

    assert again == spec
    assert [again.definition_json(task) for task in again.tasks] == [spec.definition_json(task) for task in spec.tasks]


@example({"project": "0", "warehouse": "0E0"})  # text for PyYAML, a number for us
@example({"project": "0", "warehouse": "1e3"})
@example({"project": "0", "warehouse": "2026-02-30"})
@given(projects)
def test_a_project_that_is_dumped_and_loaded_is_the_same(raw: dict[str, Any]) -> None:
    spec = ProjectSpec.model_validate(raw)

    assert ProjectSpec.model_validate(loaded(dump_spec(spec))) == spec


junk = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.dates(), st.text("ab{}%:./ ", max_size=6)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["type", "table", "path", "rows", "task", "x", ""]), inner, max_size=3),
    ),
    max_leaves=5,
)


def every_place(value: Any) -> Iterator[tuple[Any, Any]]:
    """(container, key) of everything inside `value`."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in list(inside):
        yield value, key
        yield from every_place(part)


@given(st.data())
def test_whatever_stands_in_a_file_there_is_a_spec_or_a_list_of_problems(data: st.DataObject) -> None:
    raw = data.draw(st.one_of(pipelines, pipelines.map(flat)))
    for _ in range(data.draw(st.integers(1, 3))):
        container, key = data.draw(st.sampled_from(list(every_place(raw))))
        container[key] = data.draw(junk)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pipeline.yaml"
        path.write_text(yaml.safe_dump(raw), encoding="utf-8")

        file = read_pipeline_file(path, Path(folder))

    assert file.problems or file.spec is not None


def flat(raw: dict[str, Any]) -> dict[str, Any]:
    """The first task of a pipeline, in the flat form."""
    task = {key: part for key, part in raw["tasks"][0].items() if key not in ("task", "depends_on")}
    return {**{key: part for key, part in raw.items() if key != "tasks"}, **task}


pieces = st.one_of(
    st.text(string.ascii_letters + "/*{}%#-_.' \"|", max_size=8),
    st.sampled_from(
        [
            "{{ window.start | date }}",
            "{{window.end|hour}}",
            "{{ window.start | format('%Y/%m/%d') }}",
            '{{ window.end | format( "%H%%" ) }}',
            "{{ window.start }}",
            "{{ window.key }}",
            "{{ params.text }}",
            "{{ params.number }}",
            "{{ params.flag }}",
            "{{ params.day }}",
            "{{ pipeline }}",
            "{{ env.HOME }}",
        ]
    ),
)


@given(
    text=st.lists(pieces, max_size=5).map("".join),
    hour=st.integers(0, 200_000),
    zone=st.sampled_from(["UTC", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe"]).map(ZoneInfo),
    value=st.text(string.ascii_letters + "{}%", max_size=5),
)
def test_a_plain_template_reads_the_same_to_the_template_engine(
    text: str, hour: int, zone: ZoneInfo, value: str
) -> None:
    if references(text) is None:
        return
    start = datetime(2010, 1, 1, tzinfo=UTC) + timedelta(hours=hour)
    window = Window(start, start + timedelta(hours=1))
    params: dict[str, Scalar] = {"text": value, "number": 7.5, "flag": True, "day": date(2026, 4, 1)}
    engine = sandbox(zone).from_string(text)

    ours = render(
        text,
        window=window,
        zone=zone,
        params=params,
        pipeline="p",
        environ={"HOME": value},
        secrets=Secrets(),
    )

    assert ours == engine.render(window=window, params=params, pipeline="p", env={"HOME": value})
