"""The original of a target that is proven in place: set aside, with a note, until it is put back.

It lies beside the target, not in the scratch folder: there a rename is all that it takes to put it back, no reboot
empties the place, and the next prove of the target finds it wherever its own scratch is.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samewise.core.errors import ConfigError
from samewise.prove.foreign.orphans import end_orphans
from samewise.state.holders import Holder, is_gone

_OWNER, _ORIGINAL, _USED = "owner.json", "original", "used"
_POINTER = "in-place.json"


@dataclass(frozen=True, slots=True)
class SetAside:
    """One original. Where `real` did not exist there is none, and the note says so."""

    real: Path

    @property
    def folder(self) -> Path:
        return self.real.with_name(f".{self.real.name}.samewise-original")

    @property
    def original(self) -> Path:
        return self.folder / _ORIGINAL

    def put_back(self) -> None:
        """Make `real` what it was. A second call does nothing; an original that is not back is never removed.

        Raises ConfigError where that cannot be done.
        """
        try:
            self._put_back()
        except (OSError, ValueError, KeyError) as error:
            raise ConfigError(
                f"{self.real} was proven in place, and cannot be made what it was: {error}",
                kept=f"its original is whole, at {self.original}" if _is_there(self.original) else "nothing was run",
                next_step=f"mend that and prove again, or move it to {self.real} by hand and remove {self.folder}",
            ) from error

    def _put_back(self) -> None:
        if not self.folder.is_dir():
            return
        owner, used = self.folder / _OWNER, self.folder / _USED
        if owner.exists():
            was_there = bool(json.loads(owner.read_text(encoding="utf-8"))["was_there"])
            _remove(used)
            # With its note and without an original it is back already, or was never moved.
            if (_is_there(self.original) or not was_there) and _is_there(self.real):
                os.rename(self.real, used)
            if _is_there(self.original):
                os.rename(self.original, self.real)
            _sync(self.real.parent)
            _remove(used)
            owner.unlink()
        # Not a tree: if anything is left in there that we do not know of, it stays.
        self.folder.rmdir()


def set_aside(real: Path, scratch: Path) -> SetAside:
    """Move what is at `real` aside, once it is written down where it belongs: here and in the scratch folder.

    Raises ConfigError where another prove has it, and where it cannot be moved.
    """
    put_back_if_left(real)
    made = SetAside(real)
    try:
        scratch.mkdir(parents=True, exist_ok=True)
        _write(scratch / _POINTER, {"real": str(real)})
        was_there = _claim(made, scratch)
    except OSError as error:
        # Where somebody was quicker, that is what is told.
        put_back_if_left(real)
        raise _immovable(real, error) from error
    try:
        if was_there:
            os.rename(real, made.original)
        _sync(real.parent)
    except OSError as error:
        made.put_back()
        raise _immovable(real, error) from error
    return made


def _immovable(real: Path, error: OSError) -> ConfigError:
    return ConfigError(
        f"{real} cannot be set aside, so it cannot be proven in place: {error}",
        kept="nothing was run, and it is where it was",
        next_step="put a copy where it may be renamed (no mount, a folder of your own), and prove that",
    )


def _claim(made: SetAside, scratch: Path) -> bool:
    """Show the folder, with its note in it. Whether there is anything to be moved into it."""
    made.real.parent.mkdir(parents=True, exist_ok=True)
    unseen = made.folder.with_name(f"{made.folder.name}-{uuid.uuid4().hex[:12]}")
    unseen.mkdir()
    was_there = _is_there(made.real)
    holder = Holder.current().to_json()
    _write(unseen / _OWNER, {"holder": holder, "scratch": str(scratch.parent), "was_there": was_there})
    try:
        # Fails where there is one already: a folder with a note in it is never replaced.
        os.rename(unseen, made.folder)
    except OSError:
        shutil.rmtree(unseen, ignore_errors=True)
        raise
    return was_there


def put_back_if_left(real: Path) -> None:
    """Put back what a prove that is gone left beside `real`. Raises ConfigError where its owner may be alive."""
    left = SetAside(real)
    owner = _read(left.folder / _OWNER)
    holder = None if owner is None else Holder.from_json(owner["holder"])
    if holder is not None and not is_gone(holder):
        raise ConfigError(
            f"{real} is being proven in place by {holder}",
            kept=f"nothing was run; its original is at {left.original}",
            next_step=f"wait for that prove; if it is gone for certain, move the original to {real} and remove "
            f"{left.folder}",
        )
    _put_back(left, owner)


def recover(scratch: Path) -> None:
    """End what still runs for a prove that is gone, and put back what it had set aside: before its scratch is removed.

    Raises ConfigError where that cannot be done.
    """
    end_orphans(scratch)
    for pointer in (_read(file) for file in sorted(scratch.glob(f"*/{_POINTER}"))):
        left = None if pointer is None else SetAside(Path(pointer["real"]))
        owner = None if left is None else _read(left.folder / _OWNER)
        # Another prove may have put it back meanwhile, and set it aside for itself.
        if left is not None and owner is not None and Path(owner["scratch"]).name == scratch.name:
            _put_back(left, owner)


def _put_back(left: SetAside, owner: Mapping[str, Any] | None) -> None:
    """Not while the job may still write: it would write into what was put back."""
    if owner is not None and not end_orphans(Path(owner["scratch"])):
        raise ConfigError(
            f"{left.real} was proven in place by a prove that is gone, and the job that it started will not end",
            kept=f"nothing was run; the original is at {left.original}",
            next_step="end the job, then prove again: that puts the original back",
        )
    left.put_back()


def _read(file: Path) -> dict[str, Any] | None:
    try:
        body: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return body


def _write(file: Path, body: dict[str, Any]) -> None:
    with file.open("w", encoding="utf-8") as opened:
        json.dump(body, opened)
        opened.flush()
        os.fsync(opened.fileno())
    _sync(file.parent)


def _sync(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _is_there(path: Path) -> bool:
    # Not `exists`: a link that leads nowhere is there, too.
    return os.path.lexists(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
