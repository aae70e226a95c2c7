"""What is written down about a run, in the state store and in the target."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from samewise.core.ids import Json, app_id, batch_id, group_app_id, stable_hash
from samewise.core.windows import Window, instant_text, parse_instant

if TYPE_CHECKING:
    from samewise.core.groups import Group, Member
    from samewise.core.measures import Measures


class Point(StrEnum):
    """How far a run has got: the last durable fact that the state store holds about it."""

    PLANNED = "planned"
    CHECKED = "checked"
    STAGED = "staged"
    VERIFIED = "verified"
    COMMITTING = "committing"
    CHECKPOINTED = "checkpointed"
    DELIVERED = "delivered"


class RunStatus(StrEnum):
    """`open` until the run is over; the rest say how it ended."""

    OPEN = "open"
    SUCCEEDED = "succeeded"
    REFUSED = "refused"
    FAILED = "failed"
    SUPERSEDED = "superseded"
    ABANDONED = "abandoned"
    """Unfinished when a newer plan took over; its token is burned or can never be used."""


class Answer(StrEnum):
    """What a target says when it is asked about a run's commit."""

    MINE = "mine"
    SUPERSEDED = "superseded"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Pins:
    """What a run reads, fixed when it is planned, so that every attempt reads the same.

    `fingerprint` changes whenever the rows that would be read may have changed.
    `summary` is for a person: `3 files, 1.2 MB`.
    """

    kind: str
    fingerprint: str
    summary: str
    details: Mapping[str, Any] = field(default_factory=dict)
    """JSON: whatever the source needs to read exactly this again."""

    @property
    def size_bytes(self) -> int | None:
        """How much there is to read, as far as it can be known without reading it."""
        if "bytes" in self.details:
            return int(self.details["bytes"])
        files = self.details.get("files")
        return None if files is None else sum(int(file[1]) for file in files)

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "fingerprint": self.fingerprint,
            "summary": self.summary,
            "details": dict(self.details),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Pins:
        """The inverse of `to_json`."""
        return cls(value["kind"], value["fingerprint"], value["summary"], value["details"])


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One logical execution of a task for one window. Every attempt shares all of this."""

    run_id: str
    pipeline: str
    task: str
    window: Window
    generation: int
    target: str
    definition: str
    """Hash of the SQL or Python, the spec and the declared inputs."""
    run_ts: datetime
    """Frozen at plan: what a transform sees instead of a clock."""
    source: Pins
    inputs: Mapping[str, Pins] = field(default_factory=dict)
    contract: str | None = None
    """Hash of the source schema that was accepted; None until the check."""
    base_version: int = -1
    """The target's version at plan; a commit of this run can only be later."""
    point: Point = Point.PLANNED
    status: RunStatus = RunStatus.OPEN
    attempt: int = 0
    """The newest attempt's number; 0 before the first."""
    forced: bool = False
    planned_at: datetime | None = None
    closed_at: datetime | None = None
    error: Mapping[str, Any] | None = None
    epoch: int | None = None
    """For a strategy that writes by key, from the check on: of two rows of one version, that of the later load wins."""
    era: int | None = None
    """The first epoch of this definition and contract: rows of an earlier one are stamped anew, even if equal."""
    group: Group | None = None
    """Set where the window is published together with its neighbours, under the group's token."""

    @property
    def app_id(self) -> str:
        if self.group is not None:
            return group_app_id(self.pipeline, self.task, self.group.span)
        return app_id(self.pipeline, self.task, self.window)

    @property
    def token(self) -> int:
        """The version that the commit's token carries: the generation, or the group's."""
        return self.generation if self.group is None else self.group.generation

    @property
    def commit_id(self) -> str:
        """Whose commit it is: the run's, or the group's."""
        return self.run_id if self.group is None else self.group.group_id

    @property
    def batch_id(self) -> str:
        return batch_id(self.pipeline, self.task, self.window, self.generation)

    @property
    def fingerprint(self) -> str:
        """Everything that was read, as one hash."""
        return stable_hash(
            [
                self.source.fingerprint,
                {name: pins.fingerprint for name, pins in self.inputs.items()},
            ]
        )

    def at(self, point: Point) -> RunRecord:
        return replace(self, point=point)


@dataclass(frozen=True, slots=True)
class Owner:
    """Who may write to a target: one task, known to one state store."""

    store_id: str
    pipeline: str
    task: str
    place: str = field(default="", compare=False)
    """Where the store lies. A store that was lost and made again in its place has another id."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a commit carries, atomically with the data: enough to rebuild the state store."""

    store_id: str
    run_id: str
    attempt_id: str
    pipeline: str
    task: str
    window: Window
    generation: int
    definition: str
    fingerprint: str
    contract: str | None
    run_ts: datetime
    kind: str = "data"
    """`data`; `burn`: an empty commit that only records the token; `watermark`: one that also moves the watermark;
    `forget`: deleted keys were dropped, under no token."""
    contract_schema: Json = None
    measures: Mapping[str, Any] | None = None
    """Known before the commit only where rows were staged; otherwise measured in the same pass."""
    rows_read: int | None = None
    rows_quarantined: int | None = None
    epoch: int | None = None
    era: int | None = None
    watermark: str | None = None
    """How far an incremental source has been read with this commit."""
    changes: Mapping[str, int] | None = None
    """By key: how many rows did what to the target."""
    files: Sequence[Sequence[Any]] = ()
    """What a run by `new_files` adds to the ledger: path, size and version of each."""
    moved: Mapping[str, str] | None = None
    """Who moved the watermark by hand, and why: `by` and `reason`."""
    seen_version: int | None = None
    """The target's version that these rows were compared with: see `Receipt`."""
    members: Sequence[Member] = ()
    """The windows of a group. Its `window` is their span, its `run_id` and `generation` are the group's."""

    @property
    def app_id(self) -> str:
        if self.members:
            return group_app_id(self.pipeline, self.task, self.window)
        return app_id(self.pipeline, self.task, self.window)

    @property
    def parts(self) -> list[Stamp]:
        """What the commit says about each window: itself, or one for each window of a group."""
        if not self.members:
            return [self]
        return [
            replace(
                self,
                window=member.window,
                run_id=member.run_id,
                generation=member.generation,
                fingerprint=member.fingerprint,
                measures=member.measures,
                rows_read=member.rows_read,
                members=(),
            )
            for member in self.members
        ]

    @property
    def takes_token(self) -> bool:
        """False for a commit that says nothing about its run."""
        return self.kind != "forget"

    @property
    def text(self) -> str:
        """One line of JSON, for the commit's metadata."""
        body: dict[str, Any] = {
            "store": self.store_id,
            "run_id": self.run_id,
            "attempt_id": self.attempt_id,
            "pipeline": self.pipeline,
            "task": self.task,
            "window": self.window.key,
            "generation": self.generation,
            "definition": self.definition,
            "fingerprint": self.fingerprint,
            "contract": self.contract,
            "contract_schema": self.contract_schema,
            "run_ts": instant_text(self.run_ts),
            "kind": self.kind,
            "measures": self.measures,
            "rows_read": self.rows_read,
            "rows_quarantined": self.rows_quarantined,
            "epoch": self.epoch,
            "era": self.era,
            "watermark": self.watermark,
            "changes": None if self.changes is None else dict(self.changes),
        }
        if self.files:
            body["files"] = [list(file) for file in self.files]
        if self.moved is not None:
            body["moved"] = dict(self.moved)
        if self.seen_version is not None:
            body["seen"] = self.seen_version
        if self.members:
            body["members"] = [member.to_json() for member in self.members]
        return json.dumps({"samewise": 1, **body}, separators=(",", ":"), sort_keys=True)

    @classmethod
    def parse(cls, text: str | None) -> Stamp | None:
        """The stamp in a commit's metadata; None if the commit is not one of ours."""
        try:
            body = json.loads(text or "")
        except ValueError:
            return None
        if not isinstance(body, dict) or body.get("samewise") != 1:
            return None
        try:
            return cls._of(body)
        except (KeyError, TypeError, ValueError):
            return None  # Someone else's metadata that looks like ours.

    @classmethod
    def _of(cls, body: Mapping[str, Any]) -> Stamp:
        from samewise.core.groups import Member

        return cls(
            store_id=body["store"],
            run_id=body["run_id"],
            attempt_id=body["attempt_id"],
            pipeline=body["pipeline"],
            task=body["task"],
            window=Window.from_key(body["window"]),
            generation=body["generation"],
            definition=body["definition"],
            fingerprint=body["fingerprint"],
            contract=body["contract"],
            run_ts=parse_instant(body["run_ts"]),
            kind=body["kind"],
            contract_schema=body["contract_schema"],
            measures=body["measures"],
            rows_read=body["rows_read"],
            rows_quarantined=body.get("rows_quarantined"),
            epoch=body.get("epoch"),
            era=body.get("era"),
            watermark=body.get("watermark"),
            changes=body.get("changes"),
            files=tuple(tuple(file) for file in body.get("files", ())),
            moved=body.get("moved"),
            seen_version=body.get("seen"),
            members=tuple(Member.from_json(value) for value in body.get("members", ())),
        )


@dataclass(frozen=True, slots=True)
class TargetCommit:
    """One commit on a target, ours or not."""

    version: int
    timestamp: datetime
    operation: str
    changes_data: bool
    stamp: Stamp | None
    rows: int | None = None
    """Rows that the commit wrote, as the target counted them."""


@dataclass(frozen=True, slots=True)
class Landed:
    """The target's answer about one run."""

    answer: Answer
    commit: TargetCommit | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a landed commit holds. Stored in the transaction that moves the watermark."""

    run_id: str
    pipeline: str
    task: str
    window: Window
    generation: int
    target: str
    target_version: int
    definition: str
    fingerprint: str
    contract: str | None
    measures: Measures | None
    """None: the commit is known to have landed, its receipt was lost with the target's log."""
    rows_read: int | None = None
    rows_staged: int | None = None
    rows_deleted: int | None = None
    rows_quarantined: int | None = None
    recovered: bool = False
    landed_at: datetime | None = None
    epoch: int | None = None
    wrote: bool = True
    """False for a run that found every row in the target already: it made no commit."""
    table_id: str | None = None
    """The target's own identity: another one after it was dropped and made again."""
    rows_inserted: int | None = None
    rows_updated: int | None = None
    rows_unchanged: int | None = None
    seen_version: int | None = None
    """Where rows find their place by key: the version that they were compared with before they were written.

    Of what others did between that and the commit, the run knew nothing. None where the commit replaced whatever
    it found, or for a receipt of before this was kept.
    """

    @property
    def known_up_to(self) -> int:
        """The target's last version that the run, or those before it, had taken into account."""
        return self.target_version - 1 if self.seen_version is None else self.seen_version
