"""Jobs with one mistake each, which prove must find and name; and sound ones, which it must let through."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from samewise.prove import report
from samewise.prove.verdict import Cause, Outcome, Proof
from tests.prove.gallery import broken, sound
from tests.prove.gallery.runner import Exhibit
from tests.support.postgres import PostgresServer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CAUSES = {
    "blind append": Cause.APPEND,
    "delete and insert in two commits": Cause.HALF_WRITTEN,
    "watermark before the rows": Cause.WATERMARK_FIRST,
    "dedup with ties": Cause.TIE,
    "now in a column": Cause.CLOCK,
    "uuid as key": Cause.GENERATED_KEY,
    "sum of doubles": Cause.DOUBLE_SUM,
    "dynamic overwrite of an empty day": Cause.STALE_PARTITION,
    "merge without dedup": Cause.DUPLICATE_KEYS,
    "merge of NULL keys": Cause.DUPLICATE_KEYS,
    "old batch over a newer one": Cause.OLD_OVER_NEW,
    "jdbc append": Cause.APPEND,
    "a mail for each run": Cause.EFFECT_PER_RUN,
    "numbers by arrival": Cause.ORDER_DEPENDENT,
}


def _proof(exhibit: Exhibit, spark: SparkSession, folder: Path, request: pytest.FixtureRequest) -> Proof:
    if exhibit.kind != "postgres":
        return exhibit.prove(spark, folder)
    server: PostgresServer = request.getfixturevalue("postgres_server")
    schema = server.new_schema()
    with server.connect() as connection:
        connection.execute(f"CREATE TABLE {schema}.orders ({exhibit.table})")
        proof = exhibit.prove(spark, folder, server.plain_url("postgres"), schema)
        left = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'samewise_copy%'").fetchall()
        assert left == []
    return proof


def test_every_broken_job_of_the_gallery_has_a_cause_to_be_found() -> None:
    assert CAUSES.keys() == broken.EXHIBITS.keys()


@pytest.mark.parametrize("name", sorted(broken.EXHIBITS))
def test_a_broken_job_is_found_and_its_cause_is_named(
    name: str, spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    proof = _proof(broken.EXHIBITS[name], spark, tmp_path, request)
    told = "\n".join(report.text(proof))
    assert not proof.holds, told
    found = [one for one in proof.verdicts if one.outcome in (Outcome.DIFFERENT, Outcome.FAILED)]
    assert found, told
    assert CAUSES[name] in [one.cause for one in found], told
    # One mistake may show as a part that was written, too, where a run is killed; never as something else.
    assert {one.cause for one in found} <= {CAUSES[name], Cause.HALF_WRITTEN}, told
    assert not any(one.outcome is Outcome.VOID for one in proof.verdicts), told


@pytest.mark.parametrize("name", sorted(sound.EXHIBITS))
def test_a_sound_job_passes_every_experiment(
    name: str, spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    proof = _proof(sound.EXHIBITS[name], spark, tmp_path, request)
    assert proof.holds, "\n".join(report.text(proof))
