"""`samewise audit`: what is not safe to retry in code that is there already."""

from __future__ import annotations

import gc
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from samewise.audit.baseline import write_baseline
from samewise.audit.cache import default_folder
from samewise.audit.config import Settings, overlaid, read_settings
from samewise.audit.engine import Result
from samewise.audit.pages import page
from samewise.audit.rules import BY_ID, RULES
from samewise.audit.summary import summarize
from samewise.cli.output import print_json, print_table, say, styled, tell
from samewise.core.errors import Refused, UsageError

FORMATS = ("text", "json", "sarif", "github")
UNSAFE = Refused.exit_code
_NARROW, _WIDE = 40, 120


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for on the command line."""

    paths: tuple[Path, ...]
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    exclude: tuple[str, ...]
    dialect: str | None
    baseline: Path | None
    write_baseline: Path | None
    fail_on: str | None
    form: str
    explain: str | None
    rules: bool
    jobs: int
    no_cache: bool


def run_audit(request: Request) -> int:
    """Audit and tell. 0 where nothing was found that matters, 3 otherwise."""
    if request.form not in FORMATS:
        raise UsageError(f"there is no format {request.form!r}", next_step=f"write one of {', '.join(FORMATS)}")
    if request.explain is not None:
        return _explain(request.explain, as_json=request.form == "json")
    if request.rules:
        return _list_rules(as_json=request.form == "json")
    # main() turns it off for short commands; reading thousands of files is not one.
    gc.enable()
    paths = request.paths or (Path(),)
    settings = _settings(request, paths[0])
    from samewise.wiring.audit import audit_paths

    cache = None if request.no_cache else default_folder()
    result = audit_paths(paths, settings, cache=cache, jobs=request.jobs)
    if request.write_baseline is not None:
        count = write_baseline(request.write_baseline, result.findings)
        tell(f"{request.write_baseline}: {count} finding{'' if count == 1 else 's'} written down")
        return 0
    failed = any(settings.fails(finding.level) for finding in result.findings)
    code = UNSAFE if failed else 0
    _tell(request.form, result, code)
    return code


def _settings(request: Request, start: Path) -> Settings:
    found, file = read_settings(start)
    if found.baseline and file is not None and request.baseline is None:
        # Written down beside the settings: its place is relative to them.
        found = overlaid(found, baseline=str(file.parent / found.baseline))
    return overlaid(
        found,
        select=_split(request.select),
        ignore=(*found.ignore, *_split(request.ignore)) if request.ignore else (),
        exclude=(*found.exclude, *request.exclude) if request.exclude else (),
        dialect=request.dialect,
        baseline=str(request.baseline) if request.baseline is not None and request.write_baseline is None else "",
        fail_on=request.fail_on,
    )


def _split(values: tuple[str, ...]) -> tuple[str, ...]:
    """`--select SW101,SW2` as well as `--select SW101 --select SW2`."""
    return tuple(one.strip().upper() for value in values for one in value.split(",") if one.strip())


def _tell(form: str, result: Result, code: int) -> None:
    summary = summarize(result)
    if form == "text":
        from samewise.audit.report.text import lines

        width = min(_WIDE, max(_NARROW, shutil.get_terminal_size((100, 24)).columns))
        for line in lines(result, summary, styled, width):
            say(line)
        return
    from samewise import __version__
    from samewise.audit.report import machine

    if form == "json":
        print_json(machine.as_json(result, summary, code))
    elif form == "sarif":
        print_json(machine.as_sarif(result, __version__))
    else:
        for line in machine.as_github(result):
            say(line)
        sys.stdout.flush()
        tell(f"{summary.files} files, {len(result.findings)} findings")


def _explain(rule: str, *, as_json: bool) -> int:
    found = BY_ID.get(rule.upper())
    text = page(rule.upper()) if found is not None else None
    if found is None or text is None:
        raise UsageError(f"there is no rule {rule!r}", next_step=f"name one of {', '.join(BY_ID)}")
    if as_json:
        print_json({"schema_version": 1, "rule": found.id, "title": found.title, "reason": found.reason, "page": text})
    else:
        say(text.rstrip())
    return 0


def _list_rules(*, as_json: bool) -> int:
    if as_json:
        rules = [
            {
                "rule": r.id,
                "name": r.name,
                "title": r.title,
                "reason": r.reason,
                "scenario": r.scenario,
                "pattern": r.pattern,
            }
            for r in RULES
        ]
        print_json({"schema_version": 1, "rules": rules})
    else:
        print_table(["rule", "finds"], [[rule.id, rule.title] for rule in RULES])
    return 0
