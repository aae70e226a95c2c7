"""Generic loader: what it does is in the spec."""
from dataclasses import dataclass, field
from enum import Enum

import pandas as pd


class Mode(Enum):
    APPEND = "append"
    REPLACE = "replace"


@dataclass
class Spec:
    table: str
    keys: list[str] = field(default_factory=list)
    mode: Mode = Mode.REPLACE


def build_upsert(spec: Spec, cols: list[str]) -> str:
    names = ", ".join(cols)
    marks = ", ".join(["%s"] * len(cols))
    sets = ", ".join(f"{c} = EXCLUDED.{c}" for c in cols if c not in spec.keys)
    sql = f"INSERT INTO {spec.table} ({names}) VALUES ({marks})"
    if spec.keys:
        sql += f" ON CONFLICT ({', '.join(spec.keys)}) DO UPDATE SET {sets}"
    return sql


def write(df: pd.DataFrame, spec: Spec, engine) -> None:
    df.to_sql(spec.table, engine, if_exists=spec.mode.value, index=False)  # expect: SW101 note


def upsert(df, spec, conn):
    with conn.cursor() as cur:
        cur.executemany(build_upsert(spec, list(df.columns)), df.values.tolist())
    conn.commit()