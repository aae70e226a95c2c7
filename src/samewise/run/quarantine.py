"""Rows that the pipeline says are to be set aside, malformed or without a key: kept, counted, never guessed at."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from samewise.core.records import RunRecord
from samewise.storage.files import list_folders, remove_if_empty, remove_tree, spark_folder, spark_path

if TYPE_CHECKING:
    from samewise.run.job import Job


def set_aside(job: Job, run: RunRecord) -> int | None:
    """Write the malformed rows of the run's source to its quarantine folder; how many there are.

    None where the source sets none aside. A second call replaces what the first one wrote.
    """
    rows = job.source.malformed(run.source)
    if rows is None:
        return None
    folder = f"{_window_folder(job, run)}/{run.batch_id}"
    rows.write.mode("overwrite").json(spark_folder(folder))
    count = job.spark().read.schema("line STRING").json(spark_path(folder)).count()
    if count == 0:
        remove_tree(folder)
    return count


def null_key_folder(job: Job, run: RunRecord) -> str:
    """Where a run sets aside rows whose key holds a NULL: dropped with the rest of what it set aside."""
    return f"{_window_folder(job, run)}/{run.batch_id}/null_keys"


def keep_only(job: Job, run: RunRecord) -> None:
    """Drop what earlier runs of this window set aside: what the landed one set aside is the truth now."""
    for folder in list_folders(_window_folder(job, run)):
        if folder.rstrip("/").rpartition("/")[2] != run.batch_id:
            remove_tree(folder)
    remove_if_empty(_window_folder(job, run))


def _window_folder(job: Job, run: RunRecord) -> str:
    name = re.sub(r"[^0-9A-Za-z]+", "_", job.label(run.window))
    return f"{job.quarantine}/{job.pipeline}/{job.task}/{name}"
