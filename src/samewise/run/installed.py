"""What Spark needs to be installed: a Java, pyspark, and for Spark Connect its client."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from samewise.core.errors import ConfigError

OLDEST_MAJOR = 17
SPARK_LINE = "4.1"
"""The line of Spark that our jars are built for."""
_PATIENCE_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that was found, and its version."""

    path: Path
    version: str
    major: int


def find_java(environ: Mapping[str, str] | None = None) -> Java:
    """The Java that Spark would use: `$JAVA_HOME`'s, else the first on the path.

    Raises ConfigError where there is none, or one that is too old for Spark.
    """
    environ = os.environ if environ is None else environ
    next_step = f"install a JDK of version {OLDEST_MAJOR} or newer, or point JAVA_HOME at one"
    home = environ.get("JAVA_HOME")
    found = str(Path(home, "bin", "java")) if home else shutil.which("java", path=environ.get("PATH"))
    if found is None:
        raise ConfigError("there is no Java on this machine, and Spark needs one", next_step=next_step)
    try:
        answer = subprocess.run(
            [found, "-version"], capture_output=True, text=True, timeout=_PATIENCE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        place = f"JAVA_HOME={home}" if home else found
        raise ConfigError(f"{place} does not lead to a Java that runs: {error}", next_step=next_step) from error
    said = answer.stderr + answer.stdout
    version = java_version(said)
    if version is None:
        # One that is there and does not start: most often an option in JAVA_TOOL_OPTIONS that it does not know.
        lines = [line for line in said.splitlines() if line.strip() and not line.startswith("Picked up ")]
        why = f"{found} does not say which Java it is: {lines[0].strip()}" if lines else f"{found} says nothing"
        raise ConfigError(why, next_step=f"take away the option that it complains about; or {next_step}")
    major = java_major(version)
    if major < OLDEST_MAJOR:
        raise ConfigError(f"{found} is Java {version}; Spark needs {OLDEST_MAJOR} or newer", next_step=next_step)
    return Java(Path(found), version, major)


def java_version(answer: str) -> str | None:
    """The version in what `java -version` prints; None if there is none in it."""
    match = re.search(r'version "([^"]+)"', answer)
    return match.group(1) if match else None


def java_major(version: str) -> int:
    """17 for `17.0.15`, 8 for `1.8.0_392`, 21 for `21-ea`."""
    numbers = [int(number) for number in re.findall(r"\d+", version)]
    return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]


def require_pyspark() -> str:
    """The version of pyspark. Raises ConfigError where it is missing or our jars do not fit it."""
    next_step = "pip install 'samewise[spark]'"
    try:
        version = importlib.metadata.version("pyspark")
    except importlib.metadata.PackageNotFoundError:
        raise ConfigError("pyspark is not installed", next_step=next_step) from None
    if not version.startswith(SPARK_LINE + "."):
        raise ConfigError(f"pyspark is {version}; Samewise works with {SPARK_LINE}.*", next_step=next_step)
    return version


def require_connect() -> None:
    """Raise ConfigError where a part of the Spark Connect client is missing."""
    for module in ("pyspark", "grpc", "pandas", "pyarrow"):
        if importlib.util.find_spec(module) is None:
            raise ConfigError(
                f"spark.remote needs a Spark Connect client, and `{module}` is not installed",
                next_step="pip install 'samewise[spark,connect]'",
            )
