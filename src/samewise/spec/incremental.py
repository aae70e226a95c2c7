"""What `incremental:` does not go with, besides what its strategy says."""

from __future__ import annotations

from collections.abc import Iterator

from samewise.spec.pipeline import TaskSpec
from samewise.spec.sentences import Complaint
from samewise.spec.sources import FilesSource
from samewise.spec.yaml_text import KeyPath


def check_incremental(task: TaskSpec, at: KeyPath) -> Iterator[Complaint]:
    """Complaints about a task that goes on from where its last run ended."""
    if task.is_incremental and isinstance(task.source, FilesSource) and task.source.manifest is not None:
        sentence = "a manifest speaks of a whole delivery, and an incremental run reads whatever is new: drop it"
        yield Complaint((*at, "source", "manifest"), sentence, True)
