"""The ledger of `incremental: new_files`: every file that a task has loaded, as it was then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from samewise.plan.new_files import Loaded
from samewise.state.engine import now
from samewise.state.store import Store, rides_out

if TYPE_CHECKING:
    from sqlalchemy import Connection


@rides_out
def loaded(store: Store, pipeline: str, task: str) -> dict[str, Loaded]:
    """Every file that the task has loaded, by its path."""
    rows = store.rows(
        "SELECT path, size_bytes, version FROM samewise_files WHERE pipeline = :pipeline AND task = :task",
        pipeline=pipeline,
        task=task,
    )
    return {row["path"]: Loaded(row["size_bytes"], row["version"]) for row in rows}


def put(connection: Connection, pipeline: str, task: str, loaded: Mapping[str, Loaded], run_id: str) -> None:
    """Write down what a run has loaded, in place of what was known about these files. Belongs to the checkpoint."""
    if not loaded:
        return
    from sqlalchemy import bindparam, delete

    from samewise.state.tables import files

    at = now(connection)
    connection.execute(
        delete(files).where(files.c.pipeline == pipeline, files.c.task == task, files.c.path == bindparam("known")),
        [{"known": path} for path in loaded],
    )
    connection.execute(
        files.insert(),
        [
            {
                "pipeline": pipeline,
                "task": task,
                "path": path,
                "size_bytes": file.size_bytes,
                "version": file.version,
                "run_id": run_id,
                "loaded_at": at,
            }
            for path, file in loaded.items()
        ],
    )
