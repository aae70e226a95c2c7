"""Contracts: the source schema that was accepted for a task, and every one before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from samewise.core.schema import Schema
from samewise.state.engine import now
from samewise.state.store import Store, rides_out

if TYPE_CHECKING:
    from sqlalchemy import Connection


class Contract(NamedTuple):
    """A source schema and its hash."""

    contract_id: str
    schema: Schema


@rides_out
def current(store: Store, pipeline: str, task: str) -> Contract | None:
    """The contract that holds now; None before the first load."""
    rows = store.rows(
        """
        SELECT c.contract_id, c.schema
        FROM samewise_contracts c JOIN samewise_tasks t ON c.pipeline = t.pipeline AND c.task = t.task
        WHERE t.pipeline = :pipeline AND t.task = :task AND c.number = t.contracts
        """,
        pipeline=pipeline,
        task=task,
    )
    return Contract(rows[0]["contract_id"], Schema.from_json(rows[0]["schema"])) if rows else None


@rides_out
def is_stored(store: Store, pipeline: str, task: str, contract_id: str) -> bool:
    """Whether this is, or ever was, the task's contract."""
    rows = store.rows(
        """
        SELECT number FROM samewise_contracts
        WHERE pipeline = :pipeline AND task = :task AND contract_id = :contract_id
        LIMIT 1
        """,
        pipeline=pipeline,
        task=task,
        contract_id=contract_id,
    )
    return bool(rows)


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
    from sqlalchemy import select, update

    from samewise.state import tasks as task_rows
    from samewise.state.tables import contracts, tasks

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
