"""Bytes, on this machine or in a store that has a URL.

A local path is read with the standard library. A URL (`s3a://`, `gs://`, `abfss://`, `hdfs://`, …)
goes through fsspec, which is imported only then. Credentials are the environment's: none is kept here.
"""

from __future__ import annotations

import errno
import glob as globbing
import hashlib
import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import IO, Any, cast

from samewise.core.errors import ConfigError

_URL = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*)://")
_WILDCARD = re.compile(r"[*?\[]")
_HADOOP_GLOB = re.compile(r"([\\*?\[\]{}])")
_CHUNK_BYTES = 1 << 20

_SAME_STORE = {"s3a": "s3", "s3n": "s3", "wasbs": "abfss", "webhdfs": "webhdfs"}
"""Hadoop's name of a scheme -> fsspec's."""
_PACKAGES = {"s3": "s3fs", "gs": "gcsfs", "abfs": "adlfs", "abfss": "adlfs", "hdfs": "pyarrow"}


@dataclass(frozen=True, slots=True, order=True)
class FileStat:
    """A file as it is now. `version` is another text whenever the contents may be others."""

    path: str
    size_bytes: int
    version: str
    """The store's etag, or the time of the last change in nanoseconds."""


def is_local(path: str) -> bool:
    """True for a path of this machine, written as such or as a `file:` URL."""
    return path.startswith("file:") or _URL.match(path) is None


def local_path(path: str) -> str:
    """A local path without the scheme that it may be written with."""
    return re.sub(r"^file:(//)?(?=/)", "", path)


def absolute(path: str) -> str:
    """A local path from the root, as `list_files` gives it; a URL as it is."""
    return os.path.abspath(local_path(path)) if is_local(path) else path


def join(folder: str, *parts: str) -> str:
    """`folder` and `parts` with one slash between them, for paths and URLs alike."""
    return "/".join([folder.rstrip("/"), *(part.strip("/") for part in parts)])


def spark_folder(path: str) -> str:
    """`path` as Spark must be told it: a local one with its scheme, so that no default store is assumed."""
    return "file:" + absolute(path) if is_local(path) else path


def spark_path(path: str) -> str:
    """`path` for a reader that expands wildcards: every character of it stands for itself."""
    return _HADOOP_GLOB.sub(r"\\\1", spark_folder(path))


def list_files(glob: str) -> list[FileStat]:
    """Files that `glob` matches (`*`, `?`, `[…]`, and `**` for any depth), sorted by path.

    A folder stands for every file below it. As in Spark, names that start with `_` or `.` are left
    out, with everything below such a folder, unless the path spells them out before its first wildcard.
    """
    found = _list_local(local_path(glob)) if is_local(glob) else _list_remote(glob)
    fixed = len(_fixed_part(glob if not is_local(glob) else os.path.abspath(local_path(glob))))
    return sorted(file for file in found if not _is_hidden(file.path[fixed:]))


def list_folders(path: str) -> list[str]:
    """The folders directly below `path`, sorted; none if there is no such folder."""
    if is_local(path):
        try:
            with os.scandir(local_path(path)) as entries:
                return sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
        except (FileNotFoundError, NotADirectoryError):
            return []
    store, inner = _remote(path)
    try:
        found = store.ls(inner, detail=True)
    except FileNotFoundError:
        return []
    return sorted(join(path, one["name"].rstrip("/").rpartition("/")[2]) for one in found if one["type"] == "directory")


def stat(path: str) -> FileStat | None:
    """The file as it is now, or None if there is none."""
    if is_local(path):
        try:
            found = os.stat(local_path(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        return FileStat(local_path(path), found.st_size, str(found.st_mtime_ns))
    store, inner = _remote(path)
    try:
        return _remote_stat(path, store.info(inner))
    except FileNotFoundError:
        return None


@contextmanager
def open_bytes(path: str) -> Iterator[IO[bytes]]:
    """The file, open for reading. Raises FileNotFoundError."""
    if is_local(path):
        with open(local_path(path), "rb") as local:
            yield local
        return
    store, inner = _remote(path)
    with store.open(inner, "rb") as remote:
        yield cast(IO[bytes], remote)


def read_head(path: str, size_bytes: int) -> bytes:
    """The first bytes of a file: fewer where it is shorter."""
    with open_bytes(path) as file:
        return file.read(size_bytes)


def read_tail(path: str, size_bytes: int) -> bytes:
    """The last bytes of a file: fewer where it is shorter."""
    with open_bytes(path) as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - size_bytes))
        return file.read(size_bytes)


def read_text(path: str) -> str:
    """The whole file as UTF-8, without a byte order mark. Raises UnicodeDecodeError."""
    with open_bytes(path) as file:
        return file.read().decode("utf-8-sig")


def sha256(path: str) -> str:
    """The checksum of the contents, in lower-case hexadecimal."""
    digest = hashlib.sha256()
    with open_bytes(path) as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def remove_if_empty(path: str) -> None:
    """Remove a folder that holds nothing; a store has no folders. A second call does nothing."""
    if is_local(path):
        try:
            os.rmdir(local_path(path))
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise


def remove_tree(path: str) -> None:
    """Remove a file or a folder with everything in it. A second call does nothing."""
    if is_local(path):
        local = local_path(path)
        try:
            if os.path.isdir(local) and not os.path.islink(local):
                shutil.rmtree(local)
            else:
                os.remove(local)
        except FileNotFoundError:
            # Gone already, or going: another process is removing the same tree.
            if os.path.isdir(local):
                remove_tree(path)
        return
    store, inner = _remote(path)
    try:
        store.rm(inner, recursive=True)
    except FileNotFoundError:
        return


def check_writable(folder: str) -> None:
    """Raise ConfigError unless files can be made below `folder`. Leaves nothing behind but the folder."""
    probe = join(folder, f".samewise-probe-{uuid.uuid4().hex}")
    try:
        try:
            if is_local(folder):
                os.makedirs(local_path(folder), exist_ok=True)
                with open(local_path(probe), "wb") as file:
                    file.write(b"samewise")
            else:
                store, inner = _remote(probe)
                store.pipe_file(inner, b"samewise")
        finally:
            # Even where the write failed: on a full disk it leaves an empty file.
            remove_tree(probe)
    except OSError as error:
        raise ConfigError(
            f"cannot write to {folder}: {error.strerror or error}",
            code="unwritable",
            next_step=f"make {folder} a folder that this user may write to, or name another one",
        ) from error


def _fixed_part(glob: str) -> str:
    """The folders before the first wildcard; all of it where there is none."""
    wildcard = _WILDCARD.search(glob)
    return glob if wildcard is None else glob[: glob.rfind("/", 0, wildcard.start()) + 1]


def _is_hidden(relative: str) -> bool:
    # `_year=2026` is a folder of a partitioned table, not a hidden one: Spark reads it.
    return any(
        part.startswith(".") or (part.startswith("_") and "=" not in part) for part in relative.split("/") if part
    )


def _list_local(glob: str) -> list[FileStat]:
    glob = os.path.abspath(glob)
    if _WILDCARD.search(glob) is None or os.path.exists(glob):
        # A name that is there is itself, even if it has a bracket in it.
        names = _below(glob) if os.path.isdir(glob) else [glob]
    else:
        names = [name for name in globbing.glob(glob, recursive=True) if not os.path.isdir(name)]
    # One that vanished between the listing and the look at it was never there.
    return [found for name in names if (found := stat(name)) is not None]


def _below(folder: str) -> list[str]:
    return [os.path.join(where, name) for where, _, names in os.walk(folder, followlinks=True) for name in names]


def _list_remote(glob: str) -> list[FileStat]:
    store, inner = _remote(glob)
    root = glob[: len(glob) - len(inner)] if glob.endswith(inner) else glob[: _scheme_end(glob)]
    if _WILDCARD.search(glob) is None:
        entries: dict[str, Any] = store.find(inner, detail=True)
    else:
        entries = store.glob(inner, detail=True)
    return [
        _remote_stat(root + name.lstrip("/") if root.endswith("://") else root + name, info)
        for name, info in entries.items()
        if info.get("type") == "file"
    ]


def _remote_stat(path: str, info: dict[str, Any]) -> FileStat:
    for key in ("ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "created"):
        if (value := info.get(key)) is not None:
            # One store gives the same moment as a datetime here and as seconds there.
            version = str(value.timestamp()) if isinstance(value, datetime) else str(value).strip('"')
            return FileStat(path, int(info["size"]), version)
    return FileStat(path, int(info["size"]), "")


def _scheme_end(url: str) -> int:
    match = _URL.match(url)
    assert match is not None, url
    return match.end()


def _remote(url: str) -> tuple[Any, str]:
    """The fsspec store of a URL, and the name that the store knows the file by."""
    match = _URL.match(url)
    assert match is not None, url
    scheme = _SAME_STORE.get(match[1].lower(), match[1].lower())
    package = _PACKAGES.get(scheme, "fsspec")
    try:
        core = import_module("fsspec.core")
        store, inner = core.url_to_fs(f"{scheme}://{url[match.end() :]}")
    except ImportError as error:
        wanted = "fsspec" if package == "fsspec" or error.name == "fsspec" else f"fsspec {package}"
        raise ConfigError(
            f"{match[1]}:// needs a package that is not installed: {error}",
            code="missing_package",
            next_step=f"pip install {wanted}",
        ) from error
    except ValueError as error:
        raise ConfigError(
            f"{url}: no store is known by the name {match[1]}://",
            code="unknown_store",
            next_step="use a path of this machine, or s3a://, gs://, abfss:// or hdfs://",
        ) from error
    return store, str(inner)
