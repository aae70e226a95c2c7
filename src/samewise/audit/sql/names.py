"""What a column's name says about it."""

from __future__ import annotations

import re
from collections.abc import Iterable

_KEY = re.compile(r"(^|_)(id|key|sk|pk|uuid|guid|hk|hash_key|surrogate)$")
_OF_A_RUN = re.compile(
    r"^_|(^|_)(batch|run|load|job|etl|process|trace|request|session|correlation|dag|task|file|audit|execution|import|sync"
    r"|ingest|ingestion|insert|message|parent|span|invocation|pipeline|partition)_"
)
_PROCESSING = re.compile(
    r"^_?(dw_|dwh_|etl_|dl_|meta_|sys_|row_|record_|dbt_|_sdc_)?(load|loaded|ingest|ingested|ingestion|insert|inserted"
    r"|process|processed|processing|import|imported|extract|extracted|sync|synced|etl|run|batch|fetched|scraped|landed)"
    r"_?(at|ts|time|timestamp|dt|date|datetime|on|dttm)(_utc)?$|^_fivetran_synced$|^_airbyte_\w+_at$|^_sdc_\w+_at$"
    r"|^dbt_(updated_at|loaded_at|valid_from)$|^etl_\w*(ts|time|timestamp|date|at)$|^dw_\w*(ts|time|timestamp|date|at)$"
)
_OFFSET = re.compile(r"^_?(kafka_|source_|message_|record_|src_)?offset(_id|_no|_num)?$")
_WITH_OFFSET = re.compile(
    r"^_?(kafka_|source_|message_|record_|src_)?(topic|partition|partition_id|shard|shard_id)(_name|_no)?$"
)
_ENDS = re.compile(
    r"expir|valid_(to|until|thru|through)|(^|_)(end|ends|until|deadline|due|renew|expires|active)(_|$)|_to$|closes|end_?date"
)
_COARSE = re.compile(r"(^|_)(date|day|dt|ds|month|year|week)$|_date$")
_FINE = re.compile(
    r"(^|_)(id|seq|sequence|offset|lsn|scn|version|ver|number|no|num|uuid|key|sk|pk|hash|rowid|ctid|index|idx|rank)(_\w{1,4})?$|_id$"
)


def is_key(name: str) -> bool:
    """Named as a key, and not as that of the run that loaded the row."""
    return _KEY.search(name.lower()) is not None and not _OF_A_RUN.search(name.lower())


def is_processing_time(name: str) -> bool:
    """Named as the time at which a row was loaded."""
    return _PROCESSING.search(name.lower()) is not None


def are_offsets(names: Iterable[str]) -> bool:
    """Whether these are the place of a message in a log, and nothing else."""
    lower = [name.lower() for name in names]
    return any(_OFFSET.match(name) for name in lower) and all(_OFFSET.match(n) or _WITH_OFFSET.match(n) for n in lower)


def is_end(name: str) -> bool:
    """Named as the end of something's validity: comparing it with now asks what is valid now."""
    return _ENDS.search(name.lower()) is not None


def is_coarse(name: str) -> bool:
    """Named as a day or longer: many rows share one."""
    return _COARSE.search(name.lower()) is not None


def is_unique_looking(name: str) -> bool:
    """Named as something that tells rows apart."""
    return _FINE.search(name.lower()) is not None


def pick_key(columns: Iterable[str]) -> str:
    """The column that is most likely the key of a table."""
    names = list(columns)
    for name in names:
        if is_key(name):
            return name
    return names[0] if names else "id"
