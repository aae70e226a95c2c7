"""Load epochs of tasks that write by key: which of two loads of the same version is the later one."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from sqlalchemy import Connection, select, update

from samewise.core.records import RunRecord
from samewise.state import tasks as task_rows
from samewise.state.fence import fenced
from samewise.state.leases import Lease
from samewise.state.store import Store, rides_out
from samewise.state.tables import runs, tasks


class Epoch(NamedTuple):
    """Where a task stands."""

    epoch: int
    era: int
    """The first epoch of the definition and contract that hold now."""


@rides_out
def assign(store: Store, run: RunRecord, lease: Lease) -> RunRecord:
    """Give the run its epoch; a second call, by a later attempt too, gives the same one.

    It is the task's own, unless the definition or the contract is another one, or the run is forced: then
    it is a new one, and the task's from now on.
    """
    with fenced(store, lease, run) as connection:
        row = task_rows.lock(connection, run.pipeline, run.task)
        known = connection.execute(select(runs.c.epoch, runs.c.era).where(runs.c.run_id == run.run_id)).one()
        if known.epoch is not None:
            return replace(run, epoch=known.epoch, era=known.era)
        same = row.epoch > 0 and (row.era_definition, row.era_contract) == (run.definition, run.contract)
        epoch = row.epoch if same and not run.forced else row.epoch + 1
        era = row.era if same else epoch
        _put(connection, run.pipeline, run.task, Epoch(epoch, era), run.definition, run.contract)
        connection.execute(update(runs).where(runs.c.run_id == run.run_id).values(epoch=epoch, era=era))
    return replace(run, epoch=epoch, era=era)


@rides_out
def current(store: Store, pipeline: str, task: str) -> Epoch:
    """Where the task stands now; (0, 0) before its first load by key."""
    query = select(tasks.c.epoch, tasks.c.era).where(task_rows.of(pipeline, task))
    with store.reading() as connection:
        row = connection.execute(query).one_or_none()
    return Epoch(0, 0) if row is None else Epoch(row.epoch, row.era)


@rides_out
def is_current(store: Store, pipeline: str, task: str, definition: str, contract: str | None) -> bool:
    """Whether a run under this definition and contract would belong to the task's era."""
    query = select(tasks.c.era_definition, tasks.c.era_contract).where(task_rows.of(pipeline, task), tasks.c.epoch > 0)
    with store.reading() as connection:
        row = connection.execute(query).one_or_none()
    return row is not None and (row.era_definition, row.era_contract) == (definition, contract)


def restore(store: Store, pipeline: str, task: str, epoch: Epoch, definition: str | None, contract: str | None) -> bool:
    """Bring a task up to what its target shows; False, and nothing changed, if it is there or further already."""
    with store.transaction() as connection:
        row = task_rows.lock(connection, pipeline, task)
        if row.epoch >= epoch.epoch:
            return False
        _put(connection, pipeline, task, epoch, definition, contract)
    return True


def _put(
    connection: Connection, pipeline: str, task: str, epoch: Epoch, definition: str | None, contract: str | None
) -> None:
    connection.execute(
        update(tasks)
        .where(task_rows.of(pipeline, task))
        .values(epoch=epoch.epoch, era=epoch.era, era_definition=definition, era_contract=contract)
    )
