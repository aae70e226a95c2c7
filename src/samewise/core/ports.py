"""The plug points: what a source and a target must be able to do. No base class, no registry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol

from samewise.core.errors import SamewiseError
from samewise.core.keyed import Batch, FileMarks, Keyed
from samewise.core.measures import Measures
from samewise.core.records import Landed, Owner, Pins, RunRecord, Stamp, TargetCommit
from samewise.core.schema import Schema
from samewise.core.shapes import Fit, Shape
from samewise.core.sql import Span, Spans
from samewise.core.windows import Window

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Spark(Protocol):
    """A Spark session on demand: the first call may take seconds, later ones give the same session."""

    def __call__(self) -> SparkSession: ...

    @property
    def started(self) -> bool:
        """False until the first call, so that work which needs no Spark can stay without it."""

    def alone(self) -> AbstractContextManager[SparkSession]:
        """A session for one statement: what is set on it meanwhile reaches no other thread's statement."""


class Source(Protocol):
    """Where rows come from."""

    def pin(self, window: Window) -> Pins:
        """Fix what this window reads. Raises `Refused` where there is nothing that can be read.

        Reads names and sizes, never rows, and does without Spark wherever it can.
        """

    def check(self, pins: Pins) -> None:
        """Raise `PinsGone` if what was pinned has changed or vanished. Cheap; called before and after a read."""

    def shapes(self, pins: Pins) -> Sequence[Shape]:
        """Every shape that the pinned data has. Reads no rows, and judges nothing: `plan.verdict` does."""

    def read(self, pins: Pins, window: Window, fits: Sequence[Fit] | None = None) -> DataFrame:
        """Exactly the pinned rows, lazily, each shape fitted as `fits` says; without it, as they are.

        A malformed row never becomes a NULL, and a value that a fit's cast would change fails the job.
        """

    def explain_failure(self, error: Exception, pins: Pins) -> SamewiseError | None:
        """What a failure of Spark means, where it is this source's data that caused it; None elsewhere."""

    def malformed(self, pins: Pins) -> DataFrame | None:
        """The rows that `read` left out, for the quarantine; None where it leaves out none."""

    def release(self, pins: Pins) -> None:
        """Let go of whatever `read` holds open for these pins: their rows are written, or never will be.

        A second call does nothing.
        """


@dataclass(frozen=True, slots=True)
class Bounds:
    """What an incremental run reads: rows from `lower` on (None: from the oldest) and before `upper`."""

    lower: datetime | None
    upper: datetime


class TimeColumn(Protocol):
    """The column of a table that says when a row changed."""

    def fit(self, bounds: Bounds) -> Bounds:
        """The bounds that this column can tell: a DATE knows whole days only."""

    def span(self, bounds: Bounds) -> Span:
        """The rows within."""

    def onwards(self, lower: datetime | None) -> Span:
        """Every row from `lower` on."""


class SinceSource(Source, Protocol):
    """A source whose rows carry the time of their last change."""

    def horizon(self) -> datetime | None:
        """An instant of the source's own clock before which no row can still appear; None if it has no clock."""

    def pin_since(self, wanted: Bounds, last: Pins | None) -> Pins:
        """Fix what is read of these bounds; `from` and `to` in the details are what the source made of them.

        `last` is what the last landed run read: where there is nothing else to read, the fingerprint is that one's.
        """


class FoundFile(NamedTuple):
    """A file as it was found. `version` is another text whenever the contents may be others."""

    path: str
    size_bytes: int
    version: str


class FolderSource(Source, Protocol):
    """A source made of files that come one by one."""

    @property
    def place(self) -> str:
        """Where the files are looked for, for a person."""

    def found(self) -> Sequence[FoundFile]:
        """Every file that is there, whether it was loaded or not; none is no error."""

    def pin_files(self, files: Sequence[FoundFile]) -> Pins:
        """Fix that just these are read."""


@dataclass(frozen=True, slots=True)
class Head:
    """A target as it is now."""

    version: int
    schema: Schema
    owner: Owner | None
    table_id: str = ""
    """Another one after the target was dropped and made again."""
    adopted: bool = False
    """True once it has changed hands: then it may be awaiting commits of runs that its owner does not know."""
    shared: bool = False
    """True where others made columns of it: these may hold the same values in another type, or values of their own."""


@dataclass(frozen=True, slots=True)
class Write:
    """One atomic publication."""

    span: Span | Spans | None
    """The rows that are replaced; None replaces the whole table."""
    partition_by: Sequence[str]
    keep: bool = False
    """Record the commit and leave every row as it is (`on_empty: keep`)."""
    keyed: Keyed | None = None
    """The rows find their place by key; `span` then says nothing."""
    batch: Batch | None = None
    touched: FileMarks = field(default_factory=FileMarks)
    """The target's files that hold a row which one of these replaces, where a target has files."""
    inside: bool = False
    """Every row is known to lie in `span`: one that does not has been refused before."""


@dataclass(frozen=True, slots=True)
class Published:
    """What became of a publication, where the target itself compared its rows with what was there."""

    changes: Mapping[str, int] | None = None
    """How many rows did what (`Change`); None where rows were not compared."""
    wrote: bool = True
    """False where every row was there already: then there is no commit."""


class Target(Protocol):
    """Where rows go. Everything here is safe to call again."""

    @property
    def key(self) -> str:
        """The same for the same table, however it is written: names the lease and the owner."""

    @property
    def works_alone(self) -> bool:
        """True where `publish` itself measures what it publishes, and by key compares it with what is there.

        Otherwise the caller measures the rows on their way, and drops those that change nothing.
        """

    def exists(self) -> bool:
        """Whether the target is there at all; cheaper than to ask for its head."""

    def head(self) -> Head | None:
        """The target as it is now; None if it does not exist yet."""

    def generation(self, app_id: str) -> int:
        """The highest generation that the target has seen for this token; 0 for none."""

    def commits(self, since: int) -> Sequence[TargetCommit] | None:
        """Commits after version `since`, oldest first; None if the log does not reach back that far."""

    def known_commits(self) -> Sequence[TargetCommit]:
        """Every commit that the log still tells about, oldest first."""

    def landed(self, run: RunRecord) -> Landed:
        """Whether this run's commit is in the target: `mine`, `superseded` or `absent`."""

    def fitted(self, result: Schema) -> Schema:
        """The shape of `result` in the types that the target has for it: of its own columns, and of new ones.

        Raises `Refused` where a value could not be kept exactly, with the name of the column.
        """

    def prepare(self, schema: Schema, owner: Owner, partition_by: Sequence[str], *, keyed: Keyed | None = None) -> None:
        """Create the table, or claim one that nobody owns. Raises `ForeignTarget` for someone else's.

        `keyed`: two commits that could both insert one key must not both succeed from now on.
        """

    def adopt(self, owner: Owner) -> None:
        """Make `owner` the owner, whoever it was before."""

    def publish(self, rows: DataFrame, write: Write, stamp: Stamp) -> Published:
        """Publish `rows` in one atomic commit that carries `stamp`.

        A second call with the same or a lower generation changes nothing. By key, a row that is not newer
        than the target's own when the commit lands leaves that as it is. Raises `Refused` for rows outside
        the span, `Conflict` where another commit came first, `MayHaveLanded` where the answer was lost.
        """

    def compare(self, rows: DataFrame, keyed: Keyed, batch: Batch) -> DataFrame:
        """`rows`, one a key, each with what it would do to the target as it is now, in the column `CHANGE`. Lazily.

        A target that does not work alone also says in `FILE` where the row of that key lies, or NULL.
        """

    def is_bare(self) -> bool:
        """Whether every key is surely new to the target: it holds no row, and has forgotten none. In doubt, no."""

    def rows(self, span: Span | None) -> DataFrame | None:
        """The rows of `span`, all where it is None, as they are now; None if the target does not exist yet. Lazily."""

    def forget(self, keyed: Keyed, before: datetime, stamp: Stamp) -> int:
        """Drop deleted keys that were deleted before an instant; how many. Afterwards a row that is new to the
        target and not newer than any of them is `EXPIRED`. A second call changes nothing."""

    def latest_epoch(self) -> int:
        """The highest load epoch in any row; 0 for none."""

    def burn(self, stamp: Stamp) -> None:
        """Record the stamp's token in an empty commit, so that a late commit with it is refused."""

    def tidy(self) -> None:
        """Drop what attempts that are dead have left in the target's own system. What is still wanted stays."""

    def measure(self, span: Span | None, version: int) -> Measures:
        """Measure the rows of `span` as they were at `version`."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """The rows that name a window as theirs: then, when it landed, beside now."""

    kept: int
    taken_over: int
    """By newer windows, as they should be."""
    changed: int
    missing: int
    foreign: int
    """There now, under the window's name, and not then."""

    @property
    def is_whole(self) -> bool:
        return not (self.changed or self.missing or self.foreign)


class GroupTarget(Target, Protocol):
    """A target that can publish the rows of several windows in one commit."""

    def measure_windows(self, spans: Spans, version: int, *, like: int | None = None) -> Sequence[Measures]:
        """Measure the rows of each of `spans` as they were at `version`, in one pass.

        `like`: only the columns that the target had at that version, so that one which came later is no difference.
        """

    def measure_published(self, spans: Spans, version: int) -> Sequence[Measures]:
        """The same of windows whose rows the commit of `version` has written, all of them."""

    def lineage(self, keyed: Keyed, window_key: str, version: int) -> Lineage:
        """What has become of the rows that a window's commit, at `version`, wrote by key."""


class GroupSource(Source, Protocol):
    """A source that can read several windows in one go."""

    def read_many(
        self, pins: Sequence[Pins], windows: Sequence[Window], fits: Sequence[Sequence[Fit] | None]
    ) -> DataFrame | None:
        """The pinned rows of all of these, lazily, each with the place of its window in the column `AT`.

        None where that cannot be done in one go: then each is read by itself.
        """


class VersionedSource(Source, Protocol):
    """A source that has versions, and can be read as it was at one of them."""

    @property
    def version(self) -> int | None:
        """The newest one; None where there is no such source yet."""

    def at_version(self, version: int) -> Source:
        """The same source, as it was then, whatever happens to it."""
