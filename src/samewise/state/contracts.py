"""Contracts: the source schema that was accepted for a task, and every one before it."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, and_, select, update

from samewise.core.schema import Schema
from samewise.state import tasks as task_rows
from samewise.state.engine import now
from samewise.state.store import Store, rides_out
from samewise.state.tables import contracts, tasks


class Contract(NamedTuple):
    """A source schema and its hash."""

    contract_id: str
    schema: Schema


@rides_out
def current(store: Store, pipeline: str, task: str) -> Contract | None:
    """The contract that holds now; None before the first load."""
    query = (
        select(contracts.c.contract_id, contracts.c.schema)
        .join(tasks, and_(contracts.c.pipeline == tasks.c.pipeline, contracts.c.task == tasks.c.task))
        .where(task_rows.of(pipeline, task), contracts.c.number == tasks.c.contracts)
    )
    with store.reading() as connection:
        row = connection.execute(query).one_or_none()
    return None if row is None else Contract(row.contract_id, Schema.from_json(row.schema))


@rides_out
def is_stored(store: Store, pipeline: str, task: str, contract_id: str) -> bool:
    """Whether this is, or ever was, the task's contract."""
    query = select(contracts.c.number).where(
        contracts.c.pipeline == pipeline, contracts.c.task == task, contracts.c.contract_id == contract_id
    )
    with store.reading() as connection:
        return connection.execute(query.limit(1)).first() is not None


def accept(store: Store, pipeline: str, task: str, contract_id: str, schema: Schema, reason: str) -> bool:
    """Make this the task's contract; False, and nothing changed, if it is that already."""
    with store.transaction() as connection:
        return put(connection, pipeline, task, Contract(contract_id, schema), run_id=None, reason=reason)


def put(
    connection: Connection,
    pipeline: str,
    task: str,
    contract: Contract,
    *,
    run_id: str | None,
    reason: str,
) -> bool:
    """The same inside a transaction.

    A run keeps the columns that another one, of another window, has let in since this one looked.
    """
    row = task_rows.lock(connection, pipeline, task)
    newest = connection.execute(
        select(contracts.c.contract_id, contracts.c.schema).where(
            contracts.c.pipeline == pipeline,
            contracts.c.task == task,
            contracts.c.number == row.contracts,
        )
    ).one_or_none()
    if newest is not None and run_id is not None:
        schema = contract.schema.with_optional(Schema.from_json(newest.schema))
        if schema != contract.schema:
            from samewise.plan.drift import contract_id

            contract = Contract(contract_id(schema), schema)
    if newest is not None and newest.contract_id == contract.contract_id:
        return False
    number = row.contracts + 1
    connection.execute(update(tasks).where(task_rows.of(pipeline, task)).values(contracts=number))
    connection.execute(
        contracts.insert().values(
            pipeline=pipeline,
            task=task,
            number=number,
            contract_id=contract.contract_id,
            schema=contract.schema.to_json(),
            accepted_at=now(connection),
            run_id=run_id,
            reason=reason,
        )
    )
    return True
