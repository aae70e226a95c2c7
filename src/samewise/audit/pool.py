"""Files through the readers, in parallel, whatever is in them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from samewise.audit.cache import Cache
from samewise.audit.finding import FileReport
from samewise.audit.readers import read_file
from samewise.audit.walk import Found

MAX_BYTES = 3_000_000
SECONDS_A_FILE = 20
_CHUNK = 25
_WORTH_IT = 40
"""Below this many files to read, starting processes takes longer than reading."""


def read_all(files: Iterable[Found], *, dialect: str, cache: Path | None, jobs: int) -> dict[str, FileReport]:
    """The report of every file, by its shown name."""
    reports: dict[str, FileReport] = {}
    waiting: list[Found] = []
    for file in files:
        known = _known(file, dialect, Cache(cache))
        if known is None:
            waiting.append(file)
        else:
            reports[file.shown] = known
    for shown, report in _read(waiting, dialect, cache, jobs):
        reports[shown] = report
    return dict(sorted(reports.items()))


def _known(file: Found, dialect: str, cache: Cache) -> FileReport | None:
    try:
        size = file.path.stat().st_size
        if size > MAX_BYTES:
            return FileReport(problem=f"too large to read ({size / 1e6:.0f} MB)")
        data = file.path.read_bytes()
    except OSError as error:
        return FileReport(problem=f"cannot be read: {error.strerror or error}")
    return cache.get(cache.key(data, file.inside, dialect))


def _read(items: list[Found], dialect: str, cache: Path | None, jobs: int) -> Iterator[tuple[str, FileReport]]:
    workers = jobs or min(os.cpu_count() or 1, 8)
    if workers == 1 or len(items) < _WORTH_IT:
        yield from _chunk(items, dialect, cache)
        return
    chunks = [items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK)]
    lost: list[Found] = []
    with ProcessPoolExecutor(workers) as pool:
        futures = [(chunk, pool.submit(_chunk, chunk, dialect, cache)) for chunk in chunks]
        for chunk, future in futures:
            try:
                yield from future.result()
            except BrokenProcessPool:
                lost.extend(chunk)
    for item in lost:
        yield from _alone(item, dialect, cache)


def _alone(item: Found, dialect: str, cache: Path | None) -> Iterator[tuple[str, FileReport]]:
    """One file in a process of its own: if that dies, it is this file's doing."""
    with ProcessPoolExecutor(1) as pool:
        try:
            yield from pool.submit(_chunk, [item], dialect, cache).result()
        except BrokenProcessPool:
            yield item.shown, FileReport(problem="the reader died on it")


class _TooLong(Exception):
    pass


def _alarm(number: int, frame: object) -> None:
    raise _TooLong


def _chunk(items: list[Found], dialect: str, cache: Path | None) -> list[tuple[str, FileReport]]:
    """Runs in a process of the pool, or here."""
    found: list[tuple[str, FileReport]] = []
    kept = Cache(cache)
    can_wake = hasattr(signal, "setitimer")
    before = None
    try:
        before = signal.signal(signal.SIGALRM, _alarm) if can_wake else None
    except ValueError:
        can_wake = False  # Not the main thread: nothing wakes us there.
    try:
        for item in items:
            found.append((item.shown, _one(item, dialect, kept, can_wake=can_wake)))
    finally:
        if can_wake:
            signal.signal(signal.SIGALRM, before or signal.SIG_DFL)
    return found


def _one(file: Found, dialect: str, cache: Cache, *, can_wake: bool) -> FileReport:
    if can_wake:
        signal.setitimer(signal.ITIMER_REAL, SECONDS_A_FILE)
    try:
        data = file.path.read_bytes()
        report = read_file(data, file.inside, dialect)
    except _TooLong:
        return FileReport(problem=f"took longer than {SECONDS_A_FILE} s to read")
    except OSError as error:
        return FileReport(problem=f"cannot be read: {error.strerror or error}")
    except Exception as error:
        # One file must not take the others with it; it is told as what it is.
        return FileReport(problem=f"a bug in the audit: {type(error).__name__}: {str(error)[:200]}")
    finally:
        if can_wake:
            signal.setitimer(signal.ITIMER_REAL, 0)
    cache.put(cache.key(data, file.inside, dialect), report)
    return report
