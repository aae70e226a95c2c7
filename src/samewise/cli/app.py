"""The commands. Each imports what it needs, so that those without Spark answer at once."""

# Annotations are values here, not text: Typer would compile the text of every option of every command at each start.

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from samewise.cli import guard
from samewise.cli import prove_options as foreign

app = typer.Typer(
    name="samewise",
    help="Idempotent data pipelines on Spark: run, retry, rerun, backfill and replay, always the same table.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Folder = Annotated[Path, typer.Option("--project", help="The project's folder; found upwards from here.")]
Env = Annotated[str | None, typer.Option("--env", help="Lay this section of `envs:` over the settings.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else there.")]
Pipeline = Annotated[str, typer.Argument(metavar="PIPELINE")]
MaybePipeline = Annotated[str | None, typer.Argument(metavar="[PIPELINE]")]
HERE = Path()


class _StaleMayStandAlone(TyperCommand):
    """`--stale` without a word after it means `--stale any`: Typer's options always want their value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words = ("any", "source", "definition", "contract", "target")
        spelt: list[str] = []
        for word, following in zip(args, [*args[1:], ""], strict=True):
            spelt.append("--stale=any" if word == "--stale" and following not in words else word)
        return super().parse_args(ctx, spelt)


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]")] = HERE,
    example: Annotated[str, typer.Option(help="Which example to start from.")] = "orders",
    json: Json = False,
) -> None:
    """Make a project that runs as it is, with sample data."""
    from samewise.cli.setup import init_project

    guard.answer(lambda: init_project(folder, example, as_json=json), as_json=json)


@app.command()
def validate(project: Folder = HERE, env: Env = None, json: Json = False) -> None:
    """Find every problem in every file, each with its place."""
    from samewise.cli.look import validate_project

    guard.answer(lambda: validate_project(project, env, as_json=json), as_json=json)


@app.command(cls=_StaleMayStandAlone)
def run(
    pipeline: Pipeline,
    window: Annotated[str | None, typer.Option(help="2026-04-25, 2026-04-25T13, or START/END in ISO 8601.")] = None,
    start: Annotated[str | None, typer.Option("--from", help="First window.")] = None,
    end: Annotated[str | None, typer.Option("--to", help="End of the last window; not included.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done; do nothing.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Load again even if nothing changed.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for another run of the same window.")] = False,
    accept_change: Annotated[
        bool, typer.Option("--accept-change", help="Publish a window that `expect: change` refused.")
    ] = False,
    stale: Annotated[
        str | None,
        typer.Option(
            metavar="[WHY]",
            help="Load again what differs from its receipt: in any way, or by source, definition, contract or target.",
        ),
    ] = None,
    fork: Annotated[Path | None, typer.Option(hidden=True)] = None,
    project: Folder = HERE,
    env: Env = None,
    json: Json = False,
) -> None:
    """Load every due window, or those that are asked for."""
    from samewise.cli.run import Request, plan_pipeline, run_pipeline

    request = Request(project, env, pipeline, window, start, end, force, wait, accept_change, stale, fork)
    act = plan_pipeline if dry_run else run_pipeline
    guard.answer(lambda: act(request, as_json=json), as_json=json, pipeline=pipeline)


@app.command()
def diff(
    pipeline: Pipeline,
    window: Annotated[str | None, typer.Option(help="2026-04-25, 2026-04-25T13, or START/END in ISO 8601.")] = None,
    start: Annotated[str | None, typer.Option("--from", help="First window.")] = None,
    end: Annotated[str | None, typer.Option("--to", help="End of the last window; not included.")] = None,
    project: Folder = HERE,
    env: Env = None,
    json: Json = False,
) -> None:
    """Rows that a run would insert, update, delete and leave; nothing is written."""
    from samewise.cli.diff import show_diff

    guard.answer(
        lambda: show_diff(project, env, pipeline, window, start, end, as_json=json), as_json=json, pipeline=pipeline
    )


@app.command()
def prove(
    pipeline: MaybePipeline = None,
    window: Annotated[str | None, typer.Option(help="2026-04-25, 2026-04-25T13, or START/END in ISO 8601.")] = None,
    last: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="The newest N windows that have data; 3 by key, else 1.")
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Some of twice,killed,shuffled,order,empty,concurrent."),
    ] = None,
    sigkill: Annotated[bool, typer.Option("--sigkill", help="Kill real processes, not runs in this one.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the forks until the next prove.")] = False,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the verdicts for a test runner.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write them as one page.")] = None,
    command: foreign.Command = None,
    target: foreign.Target = None,
    date: foreign.Date = None,
    key: foreign.Key = None,
    input: foreign.InputPath = None,
    log: foreign.Log = None,
    state: foreign.State = None,
    url: foreign.Url = None,
    in_place: foreign.InPlace = False,
    unqualified: foreign.Unqualified = False,
    scratch: foreign.Scratch = None,
    timeout: foreign.Timeout = None,
    project: Folder = HERE,
    env: Env = None,
    json: Json = False,
) -> None:
    """Run a pipeline again in every way that production will, on forks, and compare; the target is only read.

    With --command, any job that can be told where to write: it runs on copies of its --target.
    """
    from samewise.cli.prove import Output, Request, prove_pipeline

    output = Output(json, junit, html)
    if pipeline is None or command is not None:
        from samewise.cli.prove_command import Asked, prove_foreign

        asked = Asked(
            command, target, date, key, input, log, state, url, in_place, unqualified, scratch, timeout, only,
            clashing=[name for name, one in (("PIPELINE", pipeline), ("--window", window), ("--last", last)) if one],
        )  # fmt: skip
        guard.answer(lambda: prove_foreign(asked, output), as_json=json)
    else:
        request = Request(project, env, pipeline, window, last, only, sigkill, keep)
        guard.answer(lambda: prove_pipeline(request, output), as_json=json, pipeline=pipeline)


@app.command()
def backfill(
    pipeline: Annotated[str, typer.Argument(metavar="PIPELINE | status | resume | pause | cancel | verify")],
    backfill_id: Annotated[str | None, typer.Argument(metavar="[ID]")] = None,
    start: Annotated[str | None, typer.Option("--from", help="First window.")] = None,
    end: Annotated[str | None, typer.Option("--to", help="End of the last window; not included.")] = None,
    parallel: Annotated[int, typer.Option(min=1, max=64, help="So many groups of windows side by side.")] = 1,
    order: Annotated[str, typer.Option(help="oldest or newest: which windows come first.")] = "oldest",
    force: Annotated[bool, typer.Option("--force", help="Load again even if nothing changed.")] = False,
    repin: Annotated[bool, typer.Option("--repin", help="Go on under the definition of today.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done; do nothing.")] = False,
    events: Annotated[bool, typer.Option("--events", help="One JSON line on stderr for each window.")] = False,
    project: Folder = HERE,
    env: Env = None,
    json: Json = False,
) -> None:
    """Load a span of windows in groups: resumable, pinned, stopped by a changed schema.

    The same command goes on with a backfill that is not finished. `status [ID]`, `resume [ID]`, `pause [ID]`,
    `cancel [ID]` and `verify [ID]` take an id or a pipeline's name; without either, the newest is meant.
    """
    from samewise.cli.backfill import Request, act_on, run_backfill

    request = Request(project, env, pipeline, backfill_id, start, end, parallel, order, force, repin, dry_run, events)
    act = act_on if request.is_action else run_backfill
    name = None if request.is_action else pipeline
    guard.answer(lambda: act(request, as_json=json), as_json=json, pipeline=name)


@app.command()
def status(pipeline: MaybePipeline = None, project: Folder = HERE, env: Env = None, json: Json = False) -> None:
    """How far each pipeline has come; with a name, each of its windows."""
    from samewise.cli.look import show_status

    guard.answer(lambda: show_status(project, env, pipeline, as_json=json), as_json=json)


@app.command()
def history(
    pipeline: Pipeline,
    limit: Annotated[int, typer.Option(min=1, help="How many runs to show.")] = 20,
    project: Folder = HERE,
    env: Env = None,
    json: Json = False,
) -> None:
    """Every run, newest first, with each attempt and its cause."""
    from samewise.cli.look import show_history

    guard.answer(lambda: show_history(project, env, pipeline, limit, as_json=json), as_json=json)


@app.command()
def contract(
    pipeline: Pipeline,
    window: Annotated[
        str | None, typer.Option(help="Whose source to look at; without it, that of the last one refused for drift.")
    ] = None,
    task: Annotated[str | None, typer.Option(help="Which task, where there are several.")] = None,
    accept: Annotated[bool, typer.Option("--accept", help="Make the source's schema of today the contract.")] = False,
    project: Folder = HERE,
    env: Env = None,
    json: Json = False,
) -> None:
    """The schema that was accepted for the source, and how today's differs."""
    from samewise.cli.contract import Request, show_contract

    request = Request(project, env, pipeline, window, task, accept)
    guard.answer(lambda: show_contract(request, as_json=json), as_json=json, pipeline=pipeline)


@app.command()
def watermark(
    pipeline: Pipeline,
    value: Annotated[
        str | None, typer.Option("--set", metavar="VALUE", help="Move it: 2026-04-25, or a time in ISO 8601.")
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Why; kept in the history.")] = None,
    task: Annotated[str | None, typer.Option(help="Which task, where several have a watermark of their own.")] = None,
    project: Folder = HERE,
    env: Env = None,
    json: Json = False,
) -> None:
    """How far the source has been read, how it came there, and what comes next."""
    from samewise.cli.watermark import Move, show_watermark

    move = Move(value, reason, task)
    guard.answer(lambda: show_watermark(project, env, pipeline, move, as_json=json), as_json=json, pipeline=pipeline)


@app.command()
def recover(
    pipeline: MaybePipeline = None,
    adopt: Annotated[
        bool, typer.Option("--adopt", help="Take over targets that belong to another state store.")
    ] = False,
    project: Folder = HERE,
    env: Env = None,
    json: Json = False,
) -> None:
    """Rebuild the state store from what the targets hold."""
    from samewise.cli.setup import recover_state

    guard.answer(lambda: recover_state(project, env, pipeline, adopt=adopt, as_json=json), as_json=json)


@app.command()
def doctor(
    fetch_jars: Annotated[bool, typer.Option("--fetch-jars", help="Fetch the missing jars now.")] = False,
    archive_classes: Annotated[
        bool, typer.Option("--archive-classes", help="Let Spark start faster on this machine (takes 300 MB).")
    ] = False,
    project: Folder = HERE,
    env: Env = None,
    json: Json = False,
) -> None:
    """Say what is missing on this machine, and the command that mends it."""
    from samewise.cli.setup import examine

    guard.answer(lambda: examine(project, env, fetch=fetch_jars, archive=archive_classes, as_json=json), as_json=json)


@app.command()
def audit(
    paths: Annotated[list[Path] | None, typer.Argument(metavar="[PATH]...", show_default=False)] = None,
    select: Annotated[
        list[str] | None, typer.Option(help="Only these rules: SW101, or SW1 for all that begin so.")
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="All rules but these.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="Leave out files and folders: a pattern.")] = None,
    dialect: Annotated[str | None, typer.Option(help="The SQL of .sql files; found by itself otherwise.")] = None,
    baseline: Annotated[Path | None, typer.Option(help="Leave out what this file knows already.")] = None,
    write_baseline: Annotated[
        Path | None, typer.Option("--write-baseline", metavar="FILE", help="Write what is found to a baseline.")
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option("--fail-on", metavar="LEVEL", help="Exit 3 from this level on: error, warning, note, never."),
    ] = None,
    form: Annotated[str, typer.Option("--format", help="text, json, sarif or github.")] = "text",
    explain: Annotated[str | None, typer.Option(metavar="RULE", help="Tell about a rule.")] = None,
    rules: Annotated[bool, typer.Option("--rules", help="List the rules.")] = False,
    jobs: Annotated[int, typer.Option(min=0, help="Processes; 0 for one a core.")] = 0,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Read every file anew.")] = False,
    json: Json = False,
) -> None:
    """Find what is not safe to retry in SQL, Python, dbt, Airflow and notebooks; runs none of it."""
    from samewise.cli.audit import Request, run_audit

    request = Request(
        tuple(paths or ()), tuple(select or ()), tuple(ignore or ()), tuple(exclude or ()), dialect, baseline,
        write_baseline, fail_on, "json" if json else form, explain, rules, jobs, no_cache,
    )  # fmt: skip
    guard.answer(lambda: run_audit(request), as_json=request.form == "json")


@app.command()
def schema(
    of: Annotated[str, typer.Argument(metavar="pipeline|project")] = "pipeline",
) -> None:
    """Print the JSON Schema of a file, so that an editor can complete it."""
    from samewise.cli.look import show_schema

    guard.answer(lambda: show_schema(of), as_json=False)


def _version(wanted: bool) -> None:
    if wanted:
        from samewise import __version__

        typer.echo(f"samewise {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Idempotent data pipelines on Spark."""
