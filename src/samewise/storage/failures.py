"""What a failure means: the one table that decides whether a thing is tried again.

A failure is known by its exception class (Python's or Java's) or by Spark's error condition.
What is not in the table is not transient.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What to do about a failure."""

    CONFLICT = "conflict"
    """Another commit came first: read the state again, then try again."""
    TRANSIENT = "transient"
    """May work next time."""
    LOST_ENGINE = "lost_engine"
    """Spark itself is gone; whatever it was doing may have landed."""
    OUT_OF_SPACE = "out_of_space"
    REFUSED = "refused"
    """The target's own rules refuse the rows."""
    SETTINGS = "settings"
    """A login, a privilege or a name is wrong: a person must act."""
    TRANSFORM = "transform"
    """The user's SQL or Python is at fault."""
    UNKNOWN = "unknown"


_CONDITIONS: dict[str, Kind] = {
    # Delta: somebody else's commit came between our read and our commit.
    "DELTA_CONCURRENT_APPEND": Kind.CONFLICT,
    "DELTA_CONCURRENT_DELETE_READ": Kind.CONFLICT,
    "DELTA_CONCURRENT_DELETE_DELETE": Kind.CONFLICT,
    "DELTA_CONCURRENT_TRANSACTION": Kind.CONFLICT,
    "DELTA_CONCURRENT_WRITE": Kind.CONFLICT,
    "DELTA_METADATA_CHANGED": Kind.CONFLICT,
    "DELTA_PROTOCOL_CHANGED": Kind.CONFLICT,
    # Delta: the rows break a rule of the table.
    "DELTA_REPLACE_WHERE_MISMATCH": Kind.REFUSED,
    "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES": Kind.REFUSED,
    "DELTA_NOT_NULL_CONSTRAINT_VIOLATED": Kind.REFUSED,
    "DELTA_FAILED_TO_MERGE_FIELDS": Kind.REFUSED,
    "DELTA_EXCEED_CHAR_VARCHAR_LIMIT": Kind.REFUSED,
    # Spark: an expression of the user's met a value that it cannot take.
    "ARITHMETIC_OVERFLOW": Kind.TRANSFORM,
    "AMBIGUOUS_REFERENCE": Kind.TRANSFORM,
    "BINARY_ARITHMETIC_OVERFLOW": Kind.TRANSFORM,
    "CANNOT_PARSE_TIMESTAMP": Kind.TRANSFORM,
    "CAST_INVALID_INPUT": Kind.TRANSFORM,
    "CAST_OVERFLOW": Kind.TRANSFORM,
    "DATATYPE_MISMATCH": Kind.TRANSFORM,
    "DIVIDE_BY_ZERO": Kind.TRANSFORM,
    "FAILED_EXECUTE_UDF": Kind.TRANSFORM,
    "INTERVAL_DIVIDED_BY_ZERO": Kind.TRANSFORM,
    "INVALID_ARRAY_INDEX": Kind.TRANSFORM,
    "INVALID_ARRAY_INDEX_IN_ELEMENT_AT": Kind.TRANSFORM,
    "MAP_KEY_DOES_NOT_EXIST": Kind.TRANSFORM,
    "MISSING_AGGREGATION": Kind.TRANSFORM,
    "NUMERIC_VALUE_OUT_OF_RANGE": Kind.TRANSFORM,
    "NUMERIC_OUT_OF_SUPPORTED_RANGE": Kind.TRANSFORM,
    "PARSE_SYNTAX_ERROR": Kind.TRANSFORM,
    "SCALAR_SUBQUERY_TOO_MANY_ROWS": Kind.TRANSFORM,
    "TABLE_OR_VIEW_NOT_FOUND": Kind.TRANSFORM,
    "UNRESOLVED_COLUMN": Kind.TRANSFORM,
    "UNRESOLVED_ROUTINE": Kind.TRANSFORM,
    "USER_RAISED_EXCEPTION": Kind.TRANSFORM,
}

_CLASSES: dict[str, Kind] = {
    "io.delta.exceptions.ConcurrentAppendException": Kind.CONFLICT,
    "io.delta.exceptions.ConcurrentDeleteReadException": Kind.CONFLICT,
    "io.delta.exceptions.ConcurrentDeleteDeleteException": Kind.CONFLICT,
    "io.delta.exceptions.ConcurrentTransactionException": Kind.CONFLICT,
    "io.delta.exceptions.ConcurrentWriteException": Kind.CONFLICT,
    "io.delta.exceptions.MetadataChangedException": Kind.CONFLICT,
    "io.delta.exceptions.ProtocolChangedException": Kind.CONFLICT,
    "java.net.ConnectException": Kind.TRANSIENT,
    "java.net.NoRouteToHostException": Kind.TRANSIENT,
    "java.net.SocketException": Kind.TRANSIENT,
    "java.net.SocketTimeoutException": Kind.TRANSIENT,
    "java.net.UnknownHostException": Kind.TRANSIENT,
    "java.util.concurrent.TimeoutException": Kind.TRANSIENT,
    "org.apache.spark.rpc.RpcTimeoutException": Kind.TRANSIENT,
    "org.apache.spark.shuffle.FetchFailedException": Kind.TRANSIENT,
    "org.apache.spark.shuffle.MetadataFetchFailedException": Kind.TRANSIENT,
    "org.apache.hadoop.ipc.RetriableException": Kind.TRANSIENT,
    "org.apache.hadoop.ipc.StandbyException": Kind.TRANSIENT,
    "org.apache.hadoop.fs.s3a.AWSServiceThrottledException": Kind.TRANSIENT,
    "org.apache.hadoop.fs.s3a.AWSStatus500Exception": Kind.TRANSIENT,
    "ConnectionResetError": Kind.TRANSIENT,
    "ConnectionRefusedError": Kind.TRANSIENT,
    "BrokenPipeError": Kind.TRANSIENT,
    "TimeoutError": Kind.TRANSIENT,
    "py4j.protocol.Py4JNetworkError": Kind.LOST_ENGINE,
    "pyspark.errors.exceptions.connect.SparkConnectGrpcException:UNAVAILABLE": Kind.LOST_ENGINE,
    "grpc._channel._MultiThreadedRendezvous": Kind.LOST_ENGINE,
    "grpc._channel._InactiveRpcError": Kind.LOST_ENGINE,
    "pyspark.errors.exceptions.captured.PythonException": Kind.TRANSFORM,
    "pyspark.errors.exceptions.connect.PythonException": Kind.TRANSFORM,
    "pyspark.errors.exceptions.captured.ParseException": Kind.TRANSFORM,
    "pyspark.errors.exceptions.connect.ParseException": Kind.TRANSFORM,
}

# PostgreSQL, by SQLSTATE; a class of two letters stands for all of it.
_SQLSTATES: dict[str, Kind] = {
    "08": Kind.TRANSIENT,
    "22": Kind.REFUSED,
    "23": Kind.REFUSED,
    "25006": Kind.TRANSIENT,  # read-only: a standby, until it is promoted
    "28": Kind.SETTINGS,
    "2B": Kind.REFUSED,  # something depends on what would be dropped
    "3D": Kind.SETTINGS,
    "3F": Kind.SETTINGS,
    "40": Kind.CONFLICT,
    "42501": Kind.SETTINGS,
    "44": Kind.REFUSED,
    "53": Kind.TRANSIENT,
    "53100": Kind.OUT_OF_SPACE,
    "54": Kind.REFUSED,
    "55006": Kind.TRANSIENT,
    "55P03": Kind.TRANSIENT,  # lock_timeout
    "57": Kind.TRANSIENT,
    "57014": Kind.TRANSIENT,  # statement_timeout, or a cancelled query
    "58": Kind.TRANSIENT,
}
# What libpq says when no connection came about: it has no SQLSTATE for that.
_LOGIN_PHRASES = (
    "password authentication failed",
    "no password supplied",
    "no pg_hba.conf entry",
    "is not permitted to log in",
    "does not exist",
    "definition of service",
    "invalid connection option",
    "invalid sslmode value",
    "root certificate file",
    "certificate verify failed",
    "server does not support SSL",
    "could not translate host name",
)

# Spark reports these only in the words of a job's failure, under the class SparkException.
_PHRASES: dict[str, Kind] = {
    "ExecutorLostFailure": Kind.TRANSIENT,
    "Executor heartbeat timed out": Kind.TRANSIENT,
    "SparkContext was shut down": Kind.LOST_ENGINE,
    "Cannot call methods on a stopped SparkContext": Kind.LOST_ENGINE,
    "No space left on device": Kind.OUT_OF_SPACE,
    "File too large": Kind.OUT_OF_SPACE,
    "Disk quota exceeded": Kind.OUT_OF_SPACE,
}

_CONDITION = r"\[([A-Z][A-Z0-9_]+(?:\.[A-Z][A-Z0-9_]*)*)\]"
_ERRNOS = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}

# A failure with several causes is what the first of these says: the innermost fact outranks what came of it.
_ORDER = (
    Kind.OUT_OF_SPACE,
    Kind.CONFLICT,
    Kind.REFUSED,
    Kind.SETTINGS,
    Kind.LOST_ENGINE,
    Kind.TRANSFORM,
    Kind.TRANSIENT,
)


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure, read: what kind it is, which of Spark's conditions it carries, one line for a person."""

    kind: Kind
    conditions: tuple[str, ...]
    summary: str


def read_failure(error: BaseException) -> Failure:
    """Look an exception up in the table, through its causes, in Python and in the JVM."""
    kinds: set[Kind] = set()
    conditions: list[str] = []
    for link in _chain(error):
        text = str(link)
        conditions += [c for c in _conditions(link, text) if c not in conditions]
        for name in _class_names(link, text):
            kinds.add(_CLASSES.get(name, Kind.UNKNOWN))
        kinds |= {kind for phrase, kind in _PHRASES.items() if phrase in text}
        kinds.add(_of_postgres(link, text))
        if isinstance(link, OSError) and link.errno in _ERRNOS:
            kinds.add(Kind.OUT_OF_SPACE)
    for condition in conditions:
        kinds.add(_CONDITIONS.get(condition.partition(".")[0], Kind.UNKNOWN))
    kind = next((kind for kind in _ORDER if kind in kinds), Kind.UNKNOWN)
    return Failure(kind, tuple(conditions), _telling_line(error, kind) or summarise(error))


def summarise(error: BaseException) -> str:
    """The first line that tells a person something; never a Java stack."""
    text = str(error).strip()
    java = re.search(r"^: (.+)$", text, flags=re.MULTILINE)
    if java is not None:
        text = java[1]
    text = text.partition("\n")[0].partition(" SQLSTATE")[0].strip() or type(error).__name__
    return re.sub(r"^((\w+\.)+)(\w+(?:Exception|Error)): ", r"\3: ", text)[:300]


def of_sqlstate(state: str) -> Kind:
    """What PostgreSQL's own code for a failure means."""
    return _SQLSTATES.get(state) or _SQLSTATES.get(state[:2]) or Kind.UNKNOWN


def _of_postgres(error: BaseException, text: str) -> Kind:
    """For an error of psycopg; `UNKNOWN` for any other."""
    if not any(kind.__module__.startswith("psycopg") for kind in type(error).__mro__):
        return Kind.UNKNOWN
    state = getattr(error, "sqlstate", None)
    if isinstance(state, str):
        return of_sqlstate(state)
    if type(error).__name__ in ("OperationalError", "ConnectionTimeout"):
        return Kind.SETTINGS if any(phrase in text for phrase in _LOGIN_PHRASES) else Kind.TRANSIENT
    return Kind.UNKNOWN


def _telling_line(error: BaseException, kind: Kind) -> str | None:
    """The words of the condition that decided: Spark wraps a division by zero in a task that failed to write."""
    for link in _chain(error):
        for found in re.finditer(_CONDITION + r"[^\n]*", str(link)):
            if _CONDITIONS.get(found[1].partition(".")[0]) is kind:
                return found[0].partition(" SQLSTATE")[0].strip()[:300]
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__


def _conditions(error: BaseException, text: str) -> Iterator[str]:
    get = getattr(error, "getCondition", None)
    if callable(get):
        condition = get()
        if isinstance(condition, str):
            yield condition
    yield from re.findall(_CONDITION, text)


def _class_names(error: BaseException, text: str) -> Iterator[str]:
    for kind in type(error).__mro__:
        module = "" if kind.__module__ == "builtins" else kind.__module__ + "."
        yield module + kind.__qualname__
        if "UNAVAILABLE" in text:
            yield f"{module}{kind.__qualname__}:UNAVAILABLE"
    yield from re.findall(r"\b(?:[a-z][\w$]*\.)+[A-Z]\w*(?:Exception|Error)\b", text)
