"""Which SQL is this? By what only one of them says; where nothing tells, none."""

from __future__ import annotations

import re

_SIGNS = [
    (
        "tsql",
        r"\bGETDATE\(|\bSYSDATETIME\(|\[dbo\]|\bdbo\.|^\s*GO\s*$|\bNVARCHAR\b|@@\w+|\bBEGIN TRAN\b|\bXACT_ABORT\b",
    ),
    (
        "bigquery",
        r"`[\w-]+\.[\w-]+\.[\w*-]+`|\bSAFE_CAST\(|\bGENERATE_UUID\(|\bTIMESTAMP_SUB\(|\bDATE_SUB\(CURRENT_DATE\(",
    ),
    (
        "snowflake",
        (
            r"\bVARIANT\b|\bCOPY INTO\b.*?@|\bFLATTEN\s*\(|\bUUID_STRING\(|::VARIANT|\bSWAP"
            r" WITH\b|\bEXECUTE AS (CALLER|OWNER)\b|\bWAREHOUSE\s*=|\bTIMESTAMP_NTZ\b"
        ),
    ),
    ("redshift", r"\bDISTKEY\b|\bSORTKEY\b|\bUNLOAD\s*\(|\bIAM_ROLE\b|\bGETDATE\(\)"),
    (
        "mysql",
        r"\bON DUPLICATE KEY\b|\bAUTO_INCREMENT\b|\bENGINE\s*=\s*InnoDB|\bINSERT IGNORE\b|\bSTART TRANSACTION\b.*`",
    ),
    (
        "spark",
        r"\bINSERT OVERWRITE\b|\bUSING DELTA\b|\bLATERAL VIEW\b|\bSTORED AS\b|\bTBLPROPERTIES\b|\bREPLACE WHERE\b",
    ),
    (
        "oracle",
        r"\bPACKAGE\s+BODY\b|\bSQL%\w+|^/\s*$|\bINSERT\s+(ALL|FIRST)\s|\bSYSDATE\b|\bNVL\(|\bVARCHAR2\b|\bFROM DUAL\b",
    ),
    ("postgres", r"\bON CONFLICT\b|::\w+|\$\$|\bSERIAL\b|\bRETURNING\b|\bnow\(\)|\bgen_random_uuid\(|\bJSONB\b"),
    ("sqlite", r"\bINSERT OR (REPLACE|IGNORE)\b|\bPRAGMA\b|\bAUTOINCREMENT\b"),
]
_COMPILED = [(name, re.compile(pattern, re.IGNORECASE | re.MULTILINE | re.DOTALL)) for name, pattern in _SIGNS]

AUTOCOMMIT = frozenset({"spark", "databricks", "hive", "bigquery", "trino", "presto", "athena", "clickhouse"})
"""Where every statement is its own commit, whatever a script says around it."""


def guess(text: str) -> str:
    """sqlglot's name of the dialect, or an empty string."""
    head = text[:200_000]
    for name, pattern in _COMPILED:
        if pattern.search(head):
            return name
    return ""


_BY_TOOL = (
    ("postgres", "postgres"),
    ("mysql", "mysql"),
    ("snow", "snowflake"),
    ("bigq", "bigquery"),
    ("mssql", "tsql"),
    ("redshift", "redshift"),
    ("oracle", "oracle"),
    ("hive", "hive"),
    ("databricks", "databricks"),
    ("trino", "trino"),
    ("presto", "presto"),
    ("athena", "athena"),
    ("sparksql", "spark"),
)


def dialect_of_tool(name: str) -> str:
    """The dialect that a hook or an operator speaks, by the beginning of its name in lower case; empty if unknown."""
    return next((dialect for start, dialect in _BY_TOOL if name.startswith(start)), "")
