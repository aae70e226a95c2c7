"""The table of failures, row by row: what the systems below really say, and what is done about it."""

from __future__ import annotations

import errno
from collections.abc import Sequence

import grpc
import psycopg
import pytest
from grpc._channel import _InactiveRpcError, _MultiThreadedRendezvous, _RPCState
from psycopg import errors
from py4j.protocol import Py4JNetworkError
from pyspark.errors.exceptions import captured, connect

from samewise.storage import failures
from samewise.storage.failures import Kind, read_failure


def _without_a_jvm(kind: type[Exception]) -> Exception:
    """An exception of a class that asks the JVM for everything that it says."""
    own = {"__init__": lambda self: None, "__str__": lambda self: "", "getCondition": lambda self: None}
    error: Exception = type("Recorded", (kind,), own)()
    return error


CONFLICT = [
    "[DELTA_CONCURRENT_APPEND.WITHOUT_HINT] Transaction conflict detected. a concurrent WRITE added data to table t",
    "[DELTA_CONCURRENT_DELETE_READ.WITHOUT_HINT] a concurrent DELETE deleted data from table t that this one read.",
    "[DELTA_CONCURRENT_DELETE_DELETE.WITH_PARTITION_HINT] a concurrent DELETE deleted data from table t",
    "[DELTA_CONCURRENT_TRANSACTION] This error occurs when multiple streaming queries are using the same checkpoint",
    "[DELTA_CONCURRENT_WRITE] A concurrent transaction has written new data since the current one read the table.",
    "[DELTA_METADATA_CHANGED] The metadata of the Delta table t has been changed by a concurrent update.",
    "[DELTA_PROTOCOL_CHANGED] The protocol version of the Delta table has been changed by a concurrent update.",
    "io.delta.exceptions.ConcurrentAppendException: Files were added to the root of the table.",
    "io.delta.exceptions.ConcurrentDeleteReadException: This transaction attempted to read files that were deleted",
    "io.delta.exceptions.ConcurrentDeleteDeleteException: This transaction attempted to delete files twice",
    "io.delta.exceptions.ConcurrentTransactionException: Did you run multiple instances of the same query?",
    "io.delta.exceptions.ConcurrentWriteException: A concurrent transaction has written new data",
    "io.delta.exceptions.MetadataChangedException: The metadata of the table has been changed",
    "io.delta.exceptions.ProtocolChangedException: The protocol version of the table has been changed",
]
REFUSED = [
    "[DELTA_REPLACE_WHERE_MISMATCH] Written data does not conform to partial table overwrite condition",
    "[DELTA_VIOLATE_CONSTRAINT_WITH_VALUES] CHECK constraint positive (amount > 0) violated by row with values:",
    "[DELTA_NOT_NULL_CONSTRAINT_VIOLATED] NOT NULL constraint violated for column: id.",
    "[DELTA_FAILED_TO_MERGE_FIELDS] Failed to merge fields 'amount' and 'amount'",
    '[DELTA_EXCEED_CHAR_VARCHAR_LIMIT] Value "abc" exceeds char/varchar type length limitation.',
]
TRANSFORM: list[str | Exception] = [
    '[ARITHMETIC_OVERFLOW] long overflow. If necessary set "spark.sql.ansi.enabled" to "false"',
    "[AMBIGUOUS_REFERENCE] Reference `id` is ambiguous, could be: [`a`.`id`, `b`.`id`].",
    "[BINARY_ARITHMETIC_OVERFLOW] 100S + 100S caused overflow.",
    "[CANNOT_PARSE_TIMESTAMP] Text 'x' could not be parsed at index 0.",
    '[CAST_INVALID_INPUT] The value \'x\' of the type "STRING" cannot be cast to "INT" because it is malformed.',
    '[CAST_OVERFLOW] The value 300 of the type "INT" cannot be cast to "TINYINT" due to an overflow.',
    '[DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES] Cannot resolve "(a + b)" due to data type mismatch',
    "[DIVIDE_BY_ZERO] Division by zero. Use `try_divide` to tolerate divisor being 0",
    "[FAILED_EXECUTE_UDF] User defined function (`f`: (INT) => INT) failed due to: java.lang.Boom.",
    "[INTERVAL_DIVIDED_BY_ZERO] Division by zero.",
    "[INVALID_ARRAY_INDEX] The index 3 is out of bounds. The array has 2 elements.",
    "[INVALID_ARRAY_INDEX_IN_ELEMENT_AT] The index 3 is out of bounds. The array has 2 elements.",
    "[MAP_KEY_DOES_NOT_EXIST] Key 'k' does not exist.",
    '[MISSING_AGGREGATION] The non-aggregating expression "id" is based on columns which are not in the GROUP BY',
    "[NUMERIC_VALUE_OUT_OF_RANGE.WITHOUT_SUGGESTION] The 12345.67 rounded half up cannot be represented",
    "[NUMERIC_OUT_OF_SUPPORTED_RANGE] The value 1e40 cannot be interpreted as a numeric",
    "[PARSE_SYNTAX_ERROR] Syntax error at or near 'FORM'.",
    "[SCALAR_SUBQUERY_TOO_MANY_ROWS] More than one row returned by a subquery used as an expression.",
    "[TABLE_OR_VIEW_NOT_FOUND] The table or view `sorce` cannot be found.",
    "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, or function parameter with name `x` cannot be resolved.",
    "[UNRESOLVED_ROUTINE] Cannot resolve routine `f` on search path [`system`.`builtin`].",
    "[USER_RAISED_EXCEPTION] no such currency",
    _without_a_jvm(captured.PythonException),
    connect.PythonException("KeyError: 'amount'"),
    _without_a_jvm(captured.ParseException),
    connect.ParseException("mismatched input"),
]
TRANSIENT: list[str | Exception] = [
    "java.net.ConnectException: Call From host to namenode:8020 failed on connection exception: Connection refused",
    "java.net.NoRouteToHostException: No route to host",
    "java.net.SocketException: Connection reset",
    "java.net.SocketTimeoutException: Read timed out",
    "java.net.UnknownHostException: bucket.s3.eu-central-1.amazonaws.com",
    "java.util.concurrent.TimeoutException: Futures timed out after [300 seconds]",
    "org.apache.spark.rpc.RpcTimeoutException: Futures timed out. This timeout is controlled by spark.rpc.askTimeout",
    "org.apache.spark.shuffle.FetchFailedException: Connection from host:7337 closed",
    "org.apache.spark.shuffle.MetadataFetchFailedException: Missing an output location for shuffle 0 partition 1",
    "org.apache.hadoop.ipc.RetriableException: NameNode still not started",
    "org.apache.hadoop.ipc.StandbyException: Operation category READ is not supported in state standby",
    "org.apache.hadoop.fs.s3a.AWSServiceThrottledException: putObject on b/k: Please reduce your request rate",
    "org.apache.hadoop.fs.s3a.AWSStatus500Exception: getFileStatus on b/k: Internal Error",
    "Lost task 0.3 in stage 1.0 (TID 7): ExecutorLostFailure (executor 2 exited caused by one of the running tasks)",
    "Lost task 0.3 in stage 1.0 (TID 7): Executor heartbeat timed out after 131482 ms",
    ConnectionResetError("connection reset by peer"),
    ConnectionRefusedError("connection refused"),
    BrokenPipeError("broken pipe"),
    TimeoutError("timed out"),
]
_GONE = _RPCState((), None, None, grpc.StatusCode.UNAVAILABLE, "failed to connect to all addresses")
LOST_ENGINE: list[str | Exception] = [
    "Job 3 cancelled because SparkContext was shut down",
    "java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.",
    Py4JNetworkError("Answer from Java side is empty"),
    connect.SparkConnectGrpcException("<_InactiveRpcError: status = StatusCode.UNAVAILABLE>"),
    _InactiveRpcError(_GONE),
    _MultiThreadedRendezvous(_GONE, None, None, None),
]
OUT_OF_SPACE: list[str | Exception] = [
    "java.io.IOException: No space left on device",
    "java.io.IOException: File too large",
    "java.io.IOException: Disk quota exceeded",
    *[OSError(number, "write") for number in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)],
]
KNOWN: dict[Kind, Sequence[str | Exception]] = {
    Kind.CONFLICT: CONFLICT,
    Kind.REFUSED: REFUSED,
    Kind.TRANSFORM: TRANSFORM,
    Kind.TRANSIENT: TRANSIENT,
    Kind.LOST_ENGINE: LOST_ENGINE,
    Kind.OUT_OF_SPACE: OUT_OF_SPACE,
}
OF_POSTGRES = [
    ("08006", Kind.TRANSIENT),
    ("22001", Kind.REFUSED),
    ("23505", Kind.REFUSED),
    ("25006", Kind.TRANSIENT),
    ("28P01", Kind.SETTINGS),
    ("2BP01", Kind.REFUSED),
    ("3D000", Kind.SETTINGS),
    ("3F000", Kind.SETTINGS),
    ("40001", Kind.CONFLICT),
    ("42501", Kind.SETTINGS),
    ("44000", Kind.REFUSED),
    ("53300", Kind.TRANSIENT),
    ("53100", Kind.OUT_OF_SPACE),
    ("54000", Kind.REFUSED),
    ("55006", Kind.TRANSIENT),
    ("55P03", Kind.TRANSIENT),
    ("57P01", Kind.TRANSIENT),
    ("57014", Kind.TRANSIENT),
    ("58030", Kind.TRANSIENT),
]
LOGINS = [
    'connection failed: FATAL:  password authentication failed for user "loader"',
    "connection failed: fe_sendauth: no password supplied",
    'connection failed: FATAL:  no pg_hba.conf entry for host "10.0.0.1"',
    'connection failed: FATAL:  role "loader" is not permitted to log in',
    'connection failed: FATAL:  database "shp" does not exist',
    'definition of service "shop" not found',
    'invalid connection option "pasword"',
    'invalid sslmode value: "yes"',
    'root certificate file "/home/me/.postgresql/root.crt" is not there',
    "connection failed: SSL error: certificate verify failed",
    "connection failed: server does not support SSL, but SSL was required",
    'could not translate host name "dbb" to address: Name or service not known',
]


@pytest.mark.parametrize(("kind", "said"), [(kind, said) for kind, each in KNOWN.items() for said in each])
def test_what_a_system_says_is_known_for_what_it_is(kind: Kind, said: str | Exception) -> None:
    error = RuntimeError(f"An error occurred while calling o95.save.\n: {said}") if isinstance(said, str) else said
    assert read_failure(error).kind is kind


@pytest.mark.parametrize(("state", "kind"), OF_POSTGRES)
def test_what_postgresql_says_by_its_code_is_known(state: str, kind: Kind) -> None:
    assert read_failure(errors.lookup(state)("in words")).kind is kind


@pytest.mark.parametrize("said", LOGINS)
def test_a_login_that_cannot_work_is_not_tried_again(said: str) -> None:
    assert read_failure(psycopg.OperationalError(said)).kind is Kind.SETTINGS


def test_every_row_of_the_table_has_something_that_was_said() -> None:
    texts = [said if isinstance(said, str) else _names(said) for each in KNOWN.values() for said in each]
    rows = [*failures._CONDITIONS, *failures._CLASSES, *failures._PHRASES]
    assert [row for row in rows if not any(row.partition(":")[0] in text for text in texts)] == []
    states = [state for state, _ in OF_POSTGRES]
    assert [row for row in failures._SQLSTATES if not any(state.startswith(row) for state in states)] == []
    assert [row for row in failures._LOGIN_PHRASES if not any(row in said for said in LOGINS)] == []


def _names(error: Exception) -> str:
    """Its class and those above it, as the table names them."""
    names = [(kind.__module__.removeprefix("builtins"), kind.__qualname__) for kind in type(error).__mro__]
    return " ".join(".".join(filter(None, name)) for name in names)


def test_what_nobody_has_seen_before_is_not_tried_again() -> None:
    assert read_failure(RuntimeError("org.example.Exception: [NEW_CONDITION] something")).kind is Kind.UNKNOWN


def test_a_full_disk_outranks_the_executor_that_was_lost_by_it() -> None:
    error = RuntimeError("ExecutorLostFailure (executor 2 exited)")
    error.__cause__ = OSError(errno.ENOSPC, "write")
    assert read_failure(error).kind is Kind.OUT_OF_SPACE
