"""The data files that one commit of a Delta table has added, where they can be read as what they are: Parquet."""

from __future__ import annotations

import json
import os
from urllib.parse import unquote

from samewise.storage.files import is_local, local_path


def added_files(location: str, version: int) -> list[str] | None:
    """The files that the commit of `version` brought; None where Delta itself has to be asked.

    That is so for a table elsewhere than on this machine's disks, for a commit whose entry is gone, and where a row
    of a file may be deleted, or the file lacks a column that is in its place.
    """
    if not is_local(location):
        return None
    folder = local_path(location)
    found: list[str] = []
    try:
        with open(os.path.join(folder, "_delta_log", f"{version:020}.json"), encoding="utf-8") as entries:
            for line in entries:
                action = json.loads(line).get("add")
                if action is None:
                    continue
                path = unquote(action["path"])
                if action.get("deletionVector") or action.get("partitionValues") or "://" in path:
                    return None
                found.append(path if os.path.isabs(path) else os.path.join(folder, path))
    except (OSError, ValueError, KeyError):
        return None
    return found if all(os.path.isfile(path) for path in found) else None
