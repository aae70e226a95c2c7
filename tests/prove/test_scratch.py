"""Scratch space: a live owner's stays, a dead one's goes with the next prove."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from samewise.prove.scratch import make_scratch, sweep
from samewise.state.holders import Holder


def of_a_dead_process(root: Path, data: str | None = None) -> Path:
    """What a process left that was killed."""
    made = make_scratch(root, data)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    owner = json.loads((made.folder / "owner.json").read_text())
    owner["holder"] = replace(Holder.current(), pid=dead.pid, started=1).to_json()
    (made.folder / "owner.json").write_text(json.dumps(owner))
    (made.folder / "fork-1").mkdir()
    return made.folder


def test_the_next_prove_removes_what_dead_ones_left_and_nothing_of_a_live_one(tmp_path: Path) -> None:
    live = make_scratch(tmp_path)
    dead = of_a_dead_process(tmp_path)
    elsewhere = make_scratch(tmp_path)
    owner = json.loads((elsewhere.folder / "owner.json").read_text())
    owner["holder"]["host"] = "another-machine"
    (elsewhere.folder / "owner.json").write_text(json.dumps(owner))
    assert sweep(tmp_path) == [dead.name]
    assert sorted(tmp_path.iterdir()) == sorted([live.folder, elsewhere.folder])
    live.remove()
    live.remove()
    assert not live.folder.exists()


def test_what_was_being_removed_when_its_remover_died_is_removed(tmp_path: Path) -> None:
    half = make_scratch(tmp_path).folder
    (half / "owner.json").unlink()
    assert sweep(tmp_path) == [half.name]
    assert sweep(tmp_path / "not there") == []


def test_tables_that_lie_where_a_cluster_sees_them_go_with_their_scratch(tmp_path: Path) -> None:
    data = tmp_path / "warehouse" / "_samewise" / "prove"
    dead = of_a_dead_process(tmp_path / "prove", str(data))
    (data / dead.name / "fork-1").mkdir(parents=True)
    assert sweep(tmp_path / "prove") == [dead.name]
    assert not (data / dead.name).exists()
