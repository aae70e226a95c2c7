"""The user's SELECT or Python function, with bound parameters and a frozen clock."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias
from zoneinfo import ZoneInfo

from samewise.core.errors import ConfigError, TransformFailed
from samewise.core.ids import stable_hash
from samewise.core.sql import literal, quote

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from samewise.core.windows import Window

_OBSERVED = "CollectMetrics"
"""The node of Spark's plan that counts the source's rows: what lies above it works on these."""

Scalar: TypeAlias = str | int | float | bool | date


@dataclass(frozen=True, slots=True)
class Context:
    """What a transform may know besides its rows. Nothing here changes between two attempts of a run."""

    window: Window
    zone: ZoneInfo
    run_ts: datetime
    """The instant at which the run was planned: use it instead of a clock."""
    params: Mapping[str, Scalar]
    inputs: Mapping[str, DataFrame]
    spark: SparkSession

    @property
    def window_start(self) -> datetime:
        """The first instant of the window, in the pipeline's zone."""
        return self.window.start.astimezone(self.zone)

    @property
    def window_end(self) -> datetime:
        """The first instant after the window, in the pipeline's zone."""
        return self.window.end.astimezone(self.zone)


class Transform(Protocol):
    """Rows in, rows out; lazily, and the same rows for the same input."""

    def apply(self, rows: DataFrame, context: Context) -> DataFrame: ...


@dataclass(frozen=True, slots=True)
class PassThrough:
    """No transform: the target gets what the source has."""

    def apply(self, rows: DataFrame, context: Context) -> DataFrame:
        return rows


@dataclass(frozen=True, slots=True)
class SqlTransform:
    """One SELECT over `source` and the declared inputs. Values reach it as bound parameters only."""

    file: str
    text: str

    def apply(self, rows: DataFrame, context: Context) -> DataFrame:
        rows.createOrReplaceTempView("source")
        for name, table in context.inputs.items():
            table.createOrReplaceTempView(name)
        return self._query(self.text, context)

    def apply_beside(self, rows: DataFrame, context: Context, mark: str, text: str | None = None) -> DataFrame:
        """The same while other windows are being prepared: in views of its own, which the others do not replace.

        Over Spark Connect a view's name is looked up when the rows are wanted, not when the query is built.
        """
        tables = []
        for name, table in {"source": rows, **context.inputs}.items():
            view = f"_samewise_{name}_{mark}"
            table.createOrReplaceTempView(view)
            tables.append(f"{quote(name)} AS (SELECT * FROM {quote(view)})")
        query = (text or self.text).strip().removesuffix(";")
        return self._query(f"WITH {', '.join(tables)} SELECT * FROM (\n{query}\n)", context)

    def _query(self, text: str, context: Context) -> DataFrame:
        try:
            return context.spark.sql(text, args=_bound(context))
        except Exception as error:
            from samewise.storage.failures import Kind, read_failure

            failure = read_failure(error)
            if failure.kind is not Kind.TRANSFORM and "Analysis" not in type(error).__name__:
                raise
            raise TransformFailed(
                f"{self.file}: {failure.summary}", next_step=f"mend {self.file}, then run again"
            ) from error


@dataclass(frozen=True, slots=True)
class PythonTransform:
    """A function `f(rows, context) -> DataFrame` of the user's own module."""

    file: Path
    function: str
    root: Path
    """The project: its modules can be imported by the user's one."""
    _loaded: dict[str, Callable[..., Any]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def text(self) -> str:
        """The module, as its author wrote it."""
        return self.file.read_text(encoding="utf-8", errors="replace")

    def apply(self, rows: DataFrame, context: Context) -> DataFrame:
        try:
            result = self._load()(rows, context)
        except Exception as error:
            raise _as_theirs(error, self.file, self.function) from error
        if not hasattr(result, "schema") or not hasattr(result, "write"):
            raise TransformFailed(
                f"{self.file.name}:{self.function} returned {type(result).__name__}, not a DataFrame",
                next_step="return the DataFrame that is to be written",
            )
        frame: DataFrame = result
        return frame

    def _load(self) -> Callable[..., Any]:
        if self.function not in self._loaded:
            # At the end: a module of the project must not hide one of the same name that others import.
            sys.path += [f for f in (str(self.file.parent), str(self.root)) if f not in sys.path]
            # A name of our own: a transform in calendar.py must not become everybody's `calendar`.
            name = f"samewise_transform_{stable_hash(str(self.file))[:12]}"
            spec = importlib.util.spec_from_file_location(name, self.file)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            spec.loader.exec_module(module)
            _send_along(self.root)
            self._loaded[self.function] = getattr(module, self.function)
        return self._loaded[self.function]


@dataclass(frozen=True, slots=True)
class Keys:
    """The columns by which rows are told apart, and what none of them may be made of: the time of the run."""

    key: Sequence[str]
    version_by: Sequence[str]
    run_ts: datetime
    zone: ZoneInfo


def check_plan(rows: DataFrame, spark: SparkSession, *, incremental: bool, keys: Keys | None = None) -> None:
    """Raise `TransformFailed` if Spark's own reading of the rows holds a clock or a random function, or, where
    the source is only what is new, an aggregate over it; `ConfigError` if a key or a version is made at run time.

    Reads the plan, not the rows. It sees what the text of a SELECT cannot show: views, Python functions.
    """
    from samewise.plan.sql_check import aggregates_in_plan, nondeterministic_in_plan, why_no_aggregate

    view = "_samewise_result"
    rows.createOrReplaceTempView(view)
    plan = spark.sql(f"EXPLAIN EXTENDED SELECT * FROM {view}").first()
    assert plan is not None
    if keys is not None:
        _check_keys(str(plan[0]), keys)
    found = nondeterministic_in_plan(str(plan[0]))
    if found:
        raise TransformFailed(
            f"the transform calls {', '.join(found)}: a retry would write other rows",
            next_step="use :run_ts (in Python context.run_ts) for the time of the run, :window_start for "
            "the window's, and a hash of business columns instead of a random value",
        )
    aggregates = aggregates_in_plan(str(plan[0]), _OBSERVED) if incremental else []
    if aggregates:
        raise TransformFailed(
            f"the transform aggregates ({', '.join(aggregates)}): it {why_no_aggregate()}",
            next_step="take the aggregate out; or make it a task of its own with replace_window and a schedule",
        )


def _check_keys(plan: str, keys: Keys) -> None:
    from samewise.plan.key_plan import keys_made_in_plan, printed_instant

    run_ts = printed_instant(keys.run_ts, keys.zone)
    found = keys_made_in_plan(plan, _OBSERVED, key=keys.key, version_by=keys.version_by, run_ts=run_ts)
    if found:
        role, sentence = found[0]
        raise ConfigError(
            sentence,
            kept="the target is untouched",
            next_step="mend the transform, then run the same command again",
            code=f"made_{role}",
        )


def as_transform_failure(error: BaseException) -> TransformFailed:
    """An error that the user's expressions raised while Spark ran them."""
    from samewise.storage.failures import read_failure

    failure = read_failure(error)
    text = str(error)
    details = text if "Traceback" in text else None
    summary = failure.summary
    if details is not None:
        lines = [line for line in text.strip().splitlines() if line.strip()]
        summary = lines[-1].strip()
    return TransformFailed(
        f"the transform failed on the data: {summary}",
        details=details,
        next_step="mend the transform or the data, then run the same command again",
    )


def _send_along(root: Path) -> None:
    """Let functions of the project's modules travel to Spark's workers as they are: those have no such files."""
    from pyspark import cloudpickle

    for module in list(sys.modules.values()):
        file = Path(getattr(module, "__file__", None) or "/").resolve()
        if file.is_relative_to(root.resolve()) and not {"site-packages", ".venv"}.intersection(file.parts):
            cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]


def _bound(context: Context) -> dict[str, Column]:
    from pyspark.sql import functions as f

    window, zone = context.window, context.zone
    values: dict[str, str] = {"run_ts": literal(context.run_ts)}
    if not window.is_full:
        for name, instant in (("window_start", window.start), ("window_end", window.end)):
            local = instant.astimezone(zone).replace(tzinfo=None)
            values[name] = literal(instant)
            values[f"{name}_date"] = literal(local.date())
            values[f"{name}_local"] = literal(local)
    bound = {name: f.expr(text) for name, text in values.items()}
    bound.update({name: f.lit(value) for name, value in context.params.items()})
    return bound


def _as_theirs(error: Exception, file: Path, function: str) -> TransformFailed:
    """The user's traceback, from the first frame that is theirs on."""
    if isinstance(error, TransformFailed):
        return error
    frames = traceback.extract_tb(error.__traceback__)
    first = next((i for i, frame in enumerate(frames) if frame.filename == str(file)), 0)
    lines = traceback.format_list(frames[first:]) + traceback.format_exception_only(error)
    return TransformFailed(
        f"{file.name}:{function} raised {type(error).__name__}: {error}",
        details="Traceback (most recent call last):\n" + "".join(lines),
        next_step=f"mend {file.name}, then run the same command again",
    )
