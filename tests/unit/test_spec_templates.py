"""Templates and the paths that come of them."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from samewise.core.errors import ConfigError
from samewise.core.windows import FULL, Window
from samewise.spec.fields import Scalar
from samewise.spec.paths import render_path
from samewise.spec.secrets import Secrets
from samewise.spec.template_check import ROOTS, template_problems
from samewise.spec.templates import references, render

BERLIN = ZoneInfo("Europe/Berlin")
WINDOW = Window(datetime(2026, 4, 24, 22, tzinfo=UTC), datetime(2026, 4, 25, 22, tzinfo=UTC))


def rendered(text: str, params: Mapping[str, Scalar] | None = None, window: Window = WINDOW, **environ: str) -> str:
    return render(
        text,
        window=window,
        zone=BERLIN,
        params=params or {},
        pipeline="orders",
        environ=environ,
        secrets=Secrets(),
    )


def path_of(text: str, params: Mapping[str, Scalar] | None = None, **environ: str) -> str:
    return render_path(
        text,
        root=Path("/shop"),
        window=WINDOW,
        zone=BERLIN,
        params=params or {},
        pipeline="orders",
        environ=environ,
        secrets=Secrets(),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain/{text}", "plain/{text}"),
        ("{{ window.start | date }}", "2026-04-25"),
        ("{{window.end|date}}", "2026-04-26"),
        ("{{ window.start | hour }}", "00"),
        ("{{ window.start | format('%Y/%m/%d %H') }}", "2026/04/25 00"),
        ('{{ window.start | format("%j%%") }}', "115%"),
        ("{{ window.start }}", "2026-04-24T22:00:00Z"),
        ("{{ window.key }}", WINDOW.key),
        ("{{ pipeline }}/{{ env.REGION }}/{{ params.flag }}-{{ params.n }}", "orders/eu/true-7"),
        ("{% if params.flag %}yes{% endif %}", "yes"),
        ("{{ env['REGION'] }}", "eu"),
        ("{{ pipeline | upper }}", "ORDERS"),
    ],
)
def test_a_template_is_filled_in(text: str, expected: str) -> None:
    assert rendered(text, {"flag": True, "n": 7}, REGION="eu") == expected


def test_a_missing_variable_is_named_and_its_neighbours_are_not() -> None:
    with pytest.raises(ConfigError) as caught:
        rendered("{{ env.PASSWORD }}", PASSWORDS="hunter2")

    assert caught.value.message == "the environment variable PASSWORD is not set"


@pytest.mark.parametrize("text", ["{{ env }}", "{% for x in env %}{{ x }}{% endfor %}", "{{ env.items() }}"])
def test_a_template_cannot_list_the_environment(text: str) -> None:
    try:
        answer = rendered(text, SECRET="hunter2")
    except ConfigError as error:
        answer = error.message

    assert "hunter2" not in answer


@pytest.mark.parametrize(
    "text",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ pipeline.__init__.__globals__ }}",
        "{{ window.start.__reduce__() }}",
        "{{ cycler.__init__ }}",
        "{{ params.nope }}",
        "{{ 1 / 0 }}",
        "{{ window.start | format('%c') }}",
        "{{ pipeline | date }}",
    ],
)
def test_what_a_template_must_not_do_is_an_error_of_the_configuration(text: str) -> None:
    with pytest.raises(ConfigError):
        rendered(text)


def test_the_full_window_has_no_bounds_to_write() -> None:
    with pytest.raises(ConfigError):
        rendered("{{ window.start | date }}", window=FULL)


def test_what_was_read_from_the_environment_is_remembered() -> None:
    secrets = Secrets()
    values = {"window": WINDOW, "zone": BERLIN, "params": {}, "pipeline": "p", "secrets": secrets}
    render("{{ env.A }}{{ env['B'] }}", environ={"A": "alpha", "B": "bravo", "C": "charlie"}, **values)  # type: ignore[arg-type]

    assert secrets.redact("alpha bravo charlie") == "*** *** charlie"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{{ windw.start | date }}", "unknown variable 'windw', did you mean 'window'?"),
        ("{{ window.strt }}", "unknown variable 'window.strt', did you mean 'window.start'?"),
        ("{{ window['strt'] }}", "unknown variable 'window.strt'"),
        ("{{ window.start | dat }}", "unknown filter 'dat', did you mean 'date'?"),
        ("{{ params.contry }}", "unknown parameter 'contry', did you mean 'country'?"),
        ("{{ window.start | format('%c') }}", "format does not know '%c'"),
        ("{{ window.start | lower | format('%Q') }}", "format does not know '%Q'"),
        ("{{ window.start", "the template cannot be read"),
        ("{% if %}", "the template cannot be read"),
        ("{{ pipeline is odder }}", "No test named 'odder'"),
        ("{{ range(3) }}", "unknown variable 'range'"),
        ("{{ env.PASSWORD | upper }}", "env.NAME can only be written out as it is"),
        ("{{ env['PASS' ~ 'WORD'] }}", "env.NAME can only be written out as it is"),
    ],
)
def test_a_wrong_template_is_found_without_filling_it_in(text: str, words: str) -> None:
    found = template_problems(text, roots=ROOTS, params=["country"])

    assert [problem for problem in found if words in problem], found


@pytest.mark.parametrize(
    "text", ["a/{{ window.start | date }}/{{ params.country }}", "{% if params.country %}x{% endif %}"]
)
def test_a_good_template_has_no_problem(text: str) -> None:
    assert template_problems(text, roots=ROOTS, params=["country"]) == []


def test_an_ordinary_path_takes_no_template_engine() -> None:
    assert references("landing/{{ window.start | format('%Y') }}/{{ env.X }}/*.csv") is not None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("landing/{{ params.x }}/*.csv", "/shop/landing/de/*.csv"),
        ("./landing/a.csv", "/shop/landing/a.csv"),
        ("/data/{{ params.x }}/*.csv", "/data/de/*.csv"),
        ("s3a://{{ env.BUCKET }}/in/{{ params.x }}", "s3a://lake/in/de"),
        ("/data/../elsewhere/a.csv", "/elsewhere/a.csv"),
    ],
)
def test_a_path_lies_where_its_beginning_says(text: str, expected: str) -> None:
    assert path_of(text, {"x": "de"}, BUCKET="lake") == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("landing/{{ params.x }}/*.csv", "../../etc"),
        ("landing/{{ params.x }}/*.csv", ".."),
        ("landing/a{{ params.x }}", "/../../b"),
        ("landing/{{ params.x }}", "{a,../../etc/passwd}"),
        ("landing/{{ params.x }}", "..\\..\\etc"),
        ("/data/{{ params.x }}", "../etc/passwd"),
        ("s3a://lake/in/{{ params.x }}", "../../other"),
        ("{{ params.x }}", "/etc/passwd"),
        ("{{ params.x }}", "file:/etc/passwd"),
        ("{{ params.x }}", "s3a://elsewhere/x"),
        ("s3a{{ params.x }}", "://elsewhere/x"),
        ("../{{ params.x }}", "a"),
        ("{% set a = params.x %}{{ a }}", "/etc/passwd"),
    ],
)
def test_a_value_cannot_lead_a_path_outside(text: str, value: str) -> None:
    with pytest.raises(ConfigError, match="leads outside"):
        path_of(text, {"x": value})


@pytest.mark.parametrize(("text", "value"), [("{{ params.x }}", " "), ("in/{{ params.x }}", "a\x00b")])
def test_a_path_that_is_none_is_refused(text: str, value: str) -> None:
    with pytest.raises(ConfigError):
        path_of(text, {"x": value})


def test_a_secret_in_a_path_that_is_refused_is_hidden() -> None:
    with pytest.raises(ConfigError) as caught:
        path_of("in/{{ env.SECRET }}", SECRET="../hunter2")

    assert "hunter2" not in str(caught.value)


def test_a_projects_folder_with_brackets_is_no_pattern() -> None:
    path = render_path(
        "landing/*.csv",
        root=Path("/my [shop]"),
        window=None,
        zone=BERLIN,
        params={},
        pipeline="p",
        environ={},
        secrets=Secrets(),
        is_glob=True,
    )

    assert path == "/my [[]shop]/landing/*.csv"
