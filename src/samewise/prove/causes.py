"""What most likely made the difference, judged by the rows that differ."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from samewise.prove.sentences import sentence
from samewise.prove.verdict import Cause, ColumnFigures, Difference, Figures, RowKind

__all__ = ["likely", "of_failure", "sentence"]

_UUID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE)
_RANDOM_WORD = re.compile(r"[0-9a-f]{16,}|[0-9A-HJKMNP-TV-Z]{26}|(?=[A-Za-z0-9+/_=-]*\d)[A-Za-z0-9+/_=-]{20,}")
_RANDOM_NUMBER = re.compile(r"-?0?\.\d{14,}|\d\.\d{10,}E-\d+", re.IGNORECASE)
_KEY_NAME = re.compile(r"(^|_)(id|key|uuid|guid|sk|no|nr|number|seq)$", re.IGNORECASE)
_PLACE_NAME = re.compile(r"(^|_)(pos|position|rank|rn|idx|index|ordinal|line|row)$", re.IGNORECASE)
_COMMENT = re.compile(r"--[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)
_CHOICE = re.compile(
    r"\b(row_number|rank|dense_rank|first|last|first_value|last_value|any_value|max_by|min_by|drop_?duplicates)\s*\("
    r"|\b(qualify|distinct\s+on|limit)\b",
    re.IGNORECASE,
)
_SEQUENCE = re.compile(
    r"\b(collect_list|collect_set|array_agg|string_agg|listagg|monotonically_increasing_id)\s*\(", re.IGNORECASE
)
_RECENT = timedelta(hours=26)
_CLOSE, _ROUNDING = 1e-6, 1e-9
_REPLAYS = ("out of order", "order")
_UNITS = (1, 1_000, 1_000_000, 1_000_000_000)


def likely(
    difference: Difference,
    *,
    experiment: str,
    strategy: str | None = None,
    code: str | None = None,
    before_rows: int | None = None,
    effects: bool = False,
    now: datetime | None = None,
) -> Cause:
    """The cause that fits the evidence best.

    `code` is the transform's own text, SQL or Python, where it is known. `before_rows` is how many rows the target had
    before any run, `effects` says that the target is a log of side effects; `now` is the time at which the experiment
    ran.
    """
    moment = now or datetime.now(UTC)
    found, clean = difference.found, difference.clean
    if effects and (difference.doubled or difference.extra):
        return Cause.EFFECT_PER_RUN
    if experiment == "empty" and difference.extra and not difference.doubled and not difference.missing:
        return Cause.STALE_PARTITION
    if difference.doubled or (difference.extra and _keys_doubled(clean, found)):
        return _more_rows(difference, experiment, strategy, before_rows)
    if difference.missing and not difference.changed and not difference.extra:
        return _fewer_rows(difference, experiment, before_rows)
    made = _made_values(difference, moment)
    if made is not None:
        return made
    if experiment == "killed" and (difference.missing or difference.extra):
        return Cause.HALF_WRITTEN
    if experiment in _REPLAYS and (difference.changed or difference.missing):
        # What is inserted once is never replaced: there the batch that comes first wins.
        return Cause.TIE if strategy == "insert_new" else Cause.OLD_OVER_NEW
    if difference.changed or (difference.missing and difference.extra):
        return _other_choice(difference, experiment, code)
    if difference.extra:
        return Cause.APPEND if experiment in ("twice", "killed", "concurrent") else Cause.UNKNOWN
    return Cause.UNKNOWN


_FAILURES = (
    (re.compile(r"MULTIPLE_SOURCE_ROW_MATCHING|MERGE_CARDINALITY|cannot affect row a second time", re.I), "duplicate"),
    (re.compile(r"duplicate key value violates|unique constraint|duplicate entry .* for key", re.I), "append"),
)


def of_failure(message: str) -> Cause | None:
    """The cause where a repeated run did not come to its end; None where its message does not tell."""
    for pattern, name in _FAILURES:
        if pattern.search(message):
            return Cause.DUPLICATE_KEYS if name == "duplicate" else Cause.APPEND
    return None


def _keys_doubled(clean: Figures, found: Figures) -> bool:
    return (found.duplicate_keys or 0) > (clean.duplicate_keys or 0)


def _more_rows(difference: Difference, experiment: str, strategy: str | None, before_rows: int | None) -> Cause:
    """Rows are there more often than they should be."""
    clean = difference.clean
    if any(_is_random(difference, name) for name in difference.changed_columns):
        return Cause.GENERATED_KEY
    if strategy in ("merge", "insert_new") or _null_keys(difference):
        return Cause.DUPLICATE_KEYS
    if clean.duplicate_keys and difference.doubled <= 2 * clean.duplicate_keys < clean.rows:
        return Cause.DUPLICATE_KEYS
    if experiment == "killed" and before_rows is not None and difference.doubled < clean.rows - before_rows:
        # A part of a killed attempt was kept, and the next one wrote all of it again.
        return Cause.HALF_WRITTEN
    return Cause.APPEND


def _is_random(difference: Difference, column: str) -> bool:
    """Whether the rows that are there again have another random value, as a generated key is."""
    values = [one.values.get(column) for one in difference.examples if one.kind is not RowKind.MISSING]
    return bool(values) and all(
        value is not None and (_UUID.fullmatch(value) or _RANDOM_WORD.fullmatch(value)) for value in values
    )


def _null_keys(difference: Difference) -> bool:
    """Whether all rows that are there again have a NULL in their key, which a MERGE never matches."""
    key = difference.found.key
    rows = [one for one in difference.examples if one.kind in (RowKind.DOUBLED, RowKind.EXTRA)]
    return bool(key) and bool(rows) and all(any(row.values.get(name) is None for name in key) for row in rows)


def _fewer_rows(difference: Difference, experiment: str, before_rows: int | None) -> Cause:
    if experiment == "killed":
        nothing_came = difference.found.rows == (before_rows if before_rows is not None else 0)
        return Cause.WATERMARK_FIRST if nothing_came else Cause.HALF_WRITTEN
    if experiment == "concurrent":
        # Both had the same input: what one deleted, the other had just written.
        return Cause.HALF_WRITTEN
    if experiment in _REPLAYS:
        return Cause.OLD_OVER_NEW
    # What has been read once is passed over the next time.
    return Cause.WATERMARK_FIRST if experiment in ("twice", "empty") else Cause.UNKNOWN


def _made_values(difference: Difference, now: datetime) -> Cause | None:
    """The cause if every changed value was made by the run itself: a time, a random key, a sum's last digits."""
    if not difference.changed or not difference.changed_columns:
        return None
    kinds = {name: _made(difference, name, now) for name in difference.changed_columns}
    if None in kinds.values():
        return None
    for cause in (Cause.GENERATED_KEY, Cause.CLOCK, Cause.DOUBLE_SUM):
        if cause in kinds.values():
            return cause
    return None


def _made(difference: Difference, column: str, now: datetime) -> Cause | None:
    pairs = [pair for pair in _changes(difference, column) if None not in pair]
    if not pairs:
        return None
    figures = _column(difference.found, column)
    values = [str(value) for pair in pairs for value in pair]
    if all(_UUID.fullmatch(value) for value in values):
        return Cause.GENERATED_KEY
    if all(_ticked(*pair, now) for pair in pairs) and not _same_days(pairs, figures):
        return Cause.CLOCK
    if figures is not None and figures.type in ("double", "float") and _last_digits(pairs, figures):
        return Cause.DOUBLE_SUM
    everywhere = difference.changed >= difference.found.rows - difference.doubled
    if everywhere and all(_RANDOM_NUMBER.fullmatch(value) for value in values):
        return Cause.GENERATED_KEY
    if everywhere and _KEY_NAME.search(column) and not _permuted(difference, column):
        return Cause.GENERATED_KEY
    if everywhere and all(_RANDOM_WORD.fullmatch(value) for value in values):
        return Cause.GENERATED_KEY
    return None


def _changes(difference: Difference, column: str) -> Iterator[tuple[str | None, str | None]]:
    for example in difference.examples:
        if column in example.changes:
            yield example.changes[column]


def _column(figures: Figures, name: str) -> ColumnFigures | None:
    return next((column for column in figures.columns if column.name == name), None)


def _same_days(pairs: list[tuple[str | None, str | None]], figures: ColumnFigures | None) -> bool:
    """A DATE that differs between two runs of one hour is not the clock's, unless it was midnight."""
    return figures is not None and figures.type == "date" and len({pair[0] for pair in pairs}) > 1


def _ticked(clean: str | None, found: str | None, now: datetime) -> bool:
    """Whether both are times near `now`, and the run that came later has the later one: of two rows' own times
    that compete for a place, either may be."""
    before, after = _instant(clean, now), _instant(found, now)
    return before is not None and after is not None and before < after


def _instant(value: str | None, now: datetime) -> float | None:
    """The instant that a text names if it is near `now`: ISO 8601, or seconds, milli-, micro- or nanoseconds."""
    text = str(value).strip()
    try:
        number = float(text)
    except ValueError:
        pass
    else:
        near = (number / unit for unit in _UNITS)
        return next((one for one in near if abs(one - now.timestamp()) < _RECENT.total_seconds()), None)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    # A time without a zone may be any zone's.
    slack = _RECENT if moment.tzinfo else _RECENT + timedelta(hours=14)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment.timestamp() if abs(moment - now) < slack else None


def _last_digits(pairs: list[tuple[str | None, str | None]], figures: ColumnFigures) -> bool:
    """Whether values differ by no more than the rounding of a sum of such numbers."""
    try:
        size = max(abs(float(str(bound))) for bound in (figures.minimum or 0, figures.maximum or 0))
        numbers = [(float(str(clean)), float(str(found))) for clean, found in pairs]
    except ValueError:
        return False
    # A sum that comes out near zero has the rounding of what it was added up from.
    return all(math.isclose(before, after, rel_tol=_CLOSE, abs_tol=_ROUNDING * size) for before, after in numbers)


def _permuted(difference: Difference, column: str) -> bool:
    """Whether the column holds the same values as before, on other rows: numbers that were dealt out anew."""
    before, after = _column(difference.clean, column), _column(difference.found, column)
    if before is None or after is None:
        return False
    return (before.nulls, before.total, before.minimum, before.maximum) == (
        *(after.nulls, after.total, after.minimum, after.maximum),
    )


def _other_choice(difference: Difference, experiment: str, code: str | None) -> Cause:
    """Rows have other values though the input was the same: another row won, or the order of rows came through."""
    text = "" if code is None else _COMMENT.sub(" ", code)
    columns = difference.changed_columns
    if _SEQUENCE.search(text) or (columns and all(_reordered(difference, name) for name in columns)):
        return Cause.ORDER_DEPENDENT
    if _CHOICE.search(text):
        return Cause.TIE
    if difference.changed and not difference.missing and not difference.extra:
        return Cause.TIE
    return Cause.ORDER_DEPENDENT if experiment == "shuffled" else Cause.UNKNOWN


def _reordered(difference: Difference, column: str) -> bool:
    """Numbers on other rows, or a list with the same items in another order."""
    figures = _column(difference.found, column)
    if figures is None:
        return False
    is_number = _KEY_NAME.search(column) or _PLACE_NAME.search(column)
    if figures.total is not None and is_number and _permuted(difference, column):
        return True
    pairs = [(str(clean), str(found)) for clean, found in _changes(difference, column)]
    lists = figures.type.startswith("array") or all(re.search(r"[,;|]", found) for _, found in pairs)
    return bool(pairs) and lists and all(sorted(clean) == sorted(found) for clean, found in pairs)
