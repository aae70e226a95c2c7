"""All experiments on a foreign job, one after the other."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from samewise.core.errors import UsageError
from samewise.prove.foreign.bench import Bench, Job, wrote_to_the_real_one
from samewise.prove.foreign.experiments import EXPERIMENTS
from samewise.prove.verdict import Outcome, Proof, Verdict

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OTHER_PARTITIONS = {
    "spark.sql.shuffle.partitions": "7",
    "spark.sql.files.maxPartitionBytes": "65536",
    "spark.sql.files.openCostInBytes": "0",
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
    "spark.default.parallelism": "5",
}


def prove_job(
    job: Job,
    spark: Callable[[], SparkSession],
    names: Sequence[str] = (),
    told: Callable[[str], None] = lambda _: None,
) -> Proof:
    """Make the experiments. Raises Refused where the job wrote to the real target: that is told above all else."""
    began = time.monotonic()
    wanted = chosen(names)
    bench = Bench(job, spark)
    untouched = job.target.fingerprint()
    told("one clean run on a copy")
    clean = bench.clean()
    told(f"ok clean  {clean.figures.rows:,} rows  {clean.seconds:.1f} s")
    verdicts: list[Verdict] = []
    for name in wanted:
        for verdict in EXPERIMENTS[name](bench, clean):
            verdicts.append(verdict)
            told(_line(verdict))
        if job.target.fingerprint() != untouched:
            raise wrote_to_the_real_one(job.target.name)
    clean.base.drop()
    clean.after.drop()
    return Proof(
        subject=job.subject,
        target=job.target.name,
        windows=tuple(date for date in job.dates if date),
        clean=clean.figures,
        verdicts=tuple(verdicts),
        seconds=round(time.monotonic() - began, 3),
        clean_seconds=round(clean.seconds, 3),
    )


def _line(verdict: Verdict) -> str:
    sign = {Outcome.SAME: "ok", Outcome.SKIPPED: "--"}.get(verdict.outcome, "!!")
    about = " ".join(part for part in (verdict.experiment, verdict.detail) if part)
    return f"{sign} {about}  {verdict.outcome.value}  {verdict.seconds:.1f} s"


def chosen(names: Sequence[str]) -> list[str]:
    """The experiments of these names, in their own order; all without any. Raises UsageError for another name."""
    for name in names:
        if name not in EXPERIMENTS:
            raise UsageError(
                f"there is no experiment {name!r}", next_step=f"use some of {', '.join(EXPERIMENTS)}, with commas"
            )
    return [name for name in EXPERIMENTS if not names or name in names]


def other_partitions(folder: Path, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Variables by which any Spark that a command starts takes other partitions; what its own code sets wins."""
    home = environ.get("SPARK_HOME")
    own = environ.get("SPARK_CONF_DIR") or (str(Path(home) / "conf") if home else None)
    folder.mkdir(parents=True, exist_ok=True)
    if own is not None and Path(own).is_dir():
        shutil.copytree(own, folder, dirs_exist_ok=True)
    with (folder / "spark-defaults.conf").open("a", encoding="utf-8") as file:
        file.write("\n" + "".join(f"{key} {value}\n" for key, value in _OTHER_PARTITIONS.items()))
    return {"SPARK_CONF_DIR": str(folder)}
