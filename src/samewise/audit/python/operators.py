"""Airflow operators that load tables without SQL of their own."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samewise.audit.facts import Frame, FrameOp
from samewise.audit.python import statements
from samewise.audit.python.values import Conn, Map, Str, Value, as_text, place_of, text_of

if TYPE_CHECKING:
    from samewise.audit.python.interpreter import Interpreter

_DISPOSITIONS = {"write_append": "append", "write_truncate": "overwrite", "write_empty": "fail"}


def other_operator(run: Interpreter, node: ast.Call, last: str, kwargs: dict[str, Value]) -> None:
    """Loads whose operator says how it writes."""
    if last == "BigQueryInsertJobOperator":
        _insert_job(run, node, kwargs)
    elif last in ("GCSToBigQueryOperator", "GoogleCloudStorageToBigQueryOperator", "BigQueryToBigQueryOperator") or (
        "write_disposition" in kwargs
    ):
        target = (
            text_of(kwargs.get("destination_project_dataset_table"))
            or text_of(kwargs.get("destination_dataset_table"))
            or ""
        )
        mode = _DISPOSITIONS.get((text_of(kwargs.get("write_disposition")) or "write_empty").lower(), "unknown")
        statement = kwargs.get("sql")
        frame = statements.query_frame(run, statement, node) if isinstance(statement, Str) else Frame()
        _add(run, node, "bigquery", mode, target, last, frame)
    elif last == "S3ToRedshiftOperator":
        method = (text_of(kwargs.get("method")) or "APPEND").upper()
        table = ".".join(as_text(kwargs[key]) for key in ("schema", "table") if key in kwargs)
        _add(
            run,
            node,
            "redshift",
            {"APPEND": "append", "REPLACE": "overwrite"}.get(method, "merge"),
            table,
            last,
            Frame(dedup=()),
        )


def _insert_job(run: Interpreter, node: ast.Call, kwargs: dict[str, Value]) -> None:
    configuration = kwargs.get("configuration")
    if not isinstance(configuration, Map):
        return
    for kind in ("query", "load", "copy"):
        job = configuration.items.get(kind)
        if not isinstance(job, Map):
            continue
        disposition = text_of(job.items.get("writeDisposition"))
        statement = job.items.get("query")
        if disposition:
            table = job.items.get("destinationTable")
            name = text_of(table.items.get("tableId")) if isinstance(table, Map) else None
            frame = statements.query_frame(run, statement, node) if isinstance(statement, Str) else Frame()
            _add(
                run,
                node,
                "bigquery",
                _DISPOSITIONS.get(disposition.lower(), "unknown"),
                name or "",
                "BigQueryInsertJobOperator",
                frame,
            )
        elif isinstance(statement, Str):
            run.flow.dialect = "bigquery"
            statements.execute(run, node, statement, Conn("auto", "bigquery"), via="operator")


def _add(run: Interpreter, node: ast.Call, lib: str, mode: str, target: str, method: str, frame: Frame) -> None:
    run.add(
        FrameOp(
            place_of(node),
            lib=lib,
            mode=mode,
            target=target.lower(),
            frame=frame,
            method=method,
            sure=mode != "unknown",
        )
    )
