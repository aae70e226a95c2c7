"""What `incremental:` does not go with, besides what its strategy says."""

from __future__ import annotations

from collections.abc import Iterator

from samewise.spec.pipeline import TaskSpec
from samewise.spec.sentences import Complaint
from samewise.spec.sources import DeltaSource, FilesSource
from samewise.spec.yaml_text import KeyPath


def check_incremental(task: TaskSpec, at: KeyPath) -> Iterator[Complaint]:
    """Complaints about a task that goes on from where its last run ended."""
    if task.is_incremental and isinstance(task.source, FilesSource) and task.source.manifest is not None:
        sentence = "a manifest speaks of a whole delivery, and an incremental run reads whatever is new: drop it"
        yield Complaint((*at, "source", "manifest"), sentence, True)
    if isinstance(task.source, DeltaSource):
        since = task.source.incremental
        # PostgreSQL shows its open transactions, and the bound stays behind them; a Delta table does not.
        if since is not None and since.lag is None and since.overlap is None:
            sentence = (
                "needs a 'lag' or an 'overlap': a row that is stamped before a run and committed after it would never "
                "be read. Write lag: 0s where no row can come late"
            )
            yield Complaint((*at, "source", "incremental"), sentence, True)
