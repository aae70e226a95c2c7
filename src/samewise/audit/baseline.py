"""Old findings that are known and left alone. Known by what they say and the code they say it of, not by lines."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from samewise.audit.finding import Finding
from samewise.core.errors import UsageError

_FORMAT = 1


def fingerprinted(findings: Iterable[Finding], lines: Sequence[str]) -> list[Finding]:
    """Each finding with a mark that survives moved lines: rule, scope, target and the code, blanks aside."""
    seen: Counter[str] = Counter()
    made = []
    for finding in findings:
        first, last = finding.place.line, min(finding.place.last_line, finding.place.line + 4)
        code = "".join("".join(lines[first - 1 : last]).split())
        text = f"{finding.rule}\x00{finding.scope}\x00{finding.target}\x00{code}"
        digest = hashlib.blake2b(text.encode("utf-8", errors="replace"), digest_size=10).hexdigest()
        seen[digest] += 1
        # The same code twice in one file is two findings.
        made.append(finding.but(fingerprint=digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"))
    return made


def write_baseline(path: Path, findings: Iterable[Finding]) -> int:
    """Write down what is known now; gives how many. A second call with the same findings changes nothing."""
    entries = sorted({(f.file, f.rule, f.fingerprint) for f in findings})
    body = {
        "format": _FORMAT,
        "findings": [{"file": file, "rule": rule, "fingerprint": mark} for file, rule, mark in entries],
    }
    path.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
    return len(entries)


def read_baseline(path: Path) -> set[tuple[str, str]]:
    """(rule, fingerprint) of what is known. The file's name does not count, so that a file can be moved."""
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        if body["format"] != _FORMAT:
            raise ValueError(f"format {body['format']}")
        return {(one["rule"], one["fingerprint"]) for one in body["findings"]}
    except OSError as error:
        raise UsageError(
            f"the baseline {path} cannot be read: {error.strerror or error}",
            next_step=f"make it: samewise audit ... --write-baseline {path}",
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{path} is not a baseline: {error}", next_step=f"make it anew: samewise audit ... --write-baseline {path}"
        ) from error
