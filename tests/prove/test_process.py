"""A foreign command as a process: what it is told, how it is killed, and where its copies are."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from samewise.core.errors import ConfigError, UsageError
from samewise.prove.foreign.call import Call, Kill
from samewise.prove.foreign.folders import FolderPlace
from samewise.prove.foreign.inputs import Form, _dealt, _rewrite_lines
from samewise.prove.foreign.places import named
from samewise.prove.foreign.process import ProcessRunner, mentions
from samewise.prove.foreign.proof import other_partitions
from samewise.wiring.prove_command import ForeignRequest, _scratch, prove_command


def _runner(command: str, folder: Path, timeout: float | None = None) -> ProcessRunner:
    return ProcessRunner(command, folder, ("target", "date"), timeout)


def test_a_command_is_told_by_words_and_by_variables_and_a_value_is_never_read_by_the_shell(tmp_path: Path) -> None:
    command = "printf '%s|' {date} \"$SAMEWISE_PROVE_TARGET\" > out; echo to the end; exit 3"
    call = Call({"target": f"{tmp_path}/a b", "date": f"$(touch {tmp_path}/pwned); x"})
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        ran = _runner(command, tmp_path)(call)
    finally:
        os.chdir(before)
    assert (ran.code, ran.killed, ran.failed, ran.output) == (3, False, True, "to the end")
    assert (tmp_path / "out").read_text() == f"$(touch {tmp_path}/pwned); x|{tmp_path}/a b|"
    assert not (tmp_path / "pwned").exists()


def test_a_kill_takes_every_process_of_the_command(tmp_path: Path) -> None:
    child = tmp_path / "child"
    command = f"sleep 60 & echo $! > {child}.new; mv {child}.new {child}; wait"
    ran = _runner(command, tmp_path)(Call({"target": "", "date": ""}), Kill(changed=child.exists), expected_seconds=1)
    assert ran.killed
    assert ran.code == -signal.SIGKILL
    number = int(child.read_text())
    give_up_at = time.monotonic() + 10
    while _is_running(number) and time.monotonic() < give_up_at:
        time.sleep(0.01)
    assert not _is_running(number)


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_kill_that_came_too_late_is_none(tmp_path: Path) -> None:
    ran = _runner("true", tmp_path)(Call({"target": "", "date": ""}), Kill(fraction=0.5), expected_seconds=1000)
    assert (ran.code, ran.killed) == (0, False)


def test_a_command_that_hangs_is_ended_and_says_so(tmp_path: Path) -> None:
    ran = _runner("sleep 60", tmp_path, timeout=0.2)(Call({"target": "", "date": ""}))
    assert ran.failed
    assert "still running" in ran.output


def test_an_unknown_placeholder_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="traget"):
        _runner("job {traget}", tmp_path)


def test_a_command_is_told_about_its_target_by_placeholder_by_variable_or_inside_its_script(tmp_path: Path) -> None:
    script = tmp_path / "job.py"
    script.write_text("out = os.environ['SAMEWISE_PROVE_TARGET']\n")
    assert mentions("job {target}", "target")
    assert mentions("OUT=$SAMEWISE_PROVE_TARGET job", "target")
    assert mentions(f"python {script}", "target")
    assert not mentions("python job.py --out warehouse/orders", "target")


@pytest.mark.parametrize("target", ["delta:orders", "postgres:orders"])
def test_a_command_that_does_not_say_where_it_writes_is_refused_and_not_run(tmp_path: Path, target: str) -> None:
    ran = tmp_path / "ran"
    with pytest.raises(UsageError, match="would write to the real one") as error:
        prove_command(ForeignRequest(f"touch {ran}", target))
    assert "{target}" in str(error.value.next_step)
    assert not ran.exists()


def test_an_input_that_the_command_does_not_use_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the command does not use"):
        prove_command(ForeignRequest("job {target}", f"delta:{tmp_path / 'orders'}", input=str(tmp_path)))


@pytest.mark.parametrize("target", ["orders", "hudi:orders", "delta:"])
def test_a_target_of_no_known_kind_is_refused(target: str) -> None:
    with pytest.raises(UsageError, match="not a target that prove can copy"):
        named(target)


def test_a_target_on_another_machine_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="this machine only"):
        FolderPlace(named("delta:s3://bucket/orders"), tmp_path)


def test_copies_share_no_file_with_the_real_folder_and_a_write_to_it_is_noticed(tmp_path: Path) -> None:
    real = tmp_path / "real"
    (real / "sub").mkdir(parents=True)
    (real / "sub" / "a").write_text("1\n")
    (real / "link").symlink_to(real / "sub" / "a")
    place = FolderPlace(named(f"file:{real}"), tmp_path / "scratch")
    print_before = place.fingerprint()
    copy = Path(place.copy("x").words["target"])
    for name in ("sub/a", "link"):
        assert not os.path.samefile(copy / name, real / "sub" / "a")
        (copy / name).write_text("changed")
    assert (real / "sub" / "a").read_text() == "1\n"
    assert place.fingerprint() == print_before
    (real / "sub" / "a").write_text("2\n")
    assert place.fingerprint() != print_before
    again = Path(place.copy("y").words["target"])
    assert (again / "sub" / "a").read_text() == "1\n"
    place.close()
    assert not (tmp_path / "scratch").exists()


def test_in_place_the_folder_is_as_it_was_when_all_is_over(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "a").write_text("1\n")
    place = FolderPlace(named(f"file:{real}"), tmp_path / "scratch", in_place=True)
    copy = place.copy("x")
    assert copy.words["target"] == str(real)
    (real / "a").write_text("2\n")
    kept = place.snapshot(copy)
    (real / "b").write_text("3\n")
    place.copy("y", kept)
    assert sorted(file.name for file in real.iterdir()) == ["a"]
    assert (real / "a").read_text() == "2\n"
    place.close()
    assert (real / "a").read_text() == "1\n"


def test_copies_that_do_not_fit_are_refused_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").write_text("x" * 100)
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 299})())
    with pytest.raises(ConfigError, match="are free"):
        FolderPlace(named(f"file:{tmp_path / 'real'}"), tmp_path / "scratch")


def test_scratch_of_a_dead_process_is_removed_and_that_of_a_live_one_stays(tmp_path: Path) -> None:
    root = tmp_path / "samewise-prove"
    (root / "dead").mkdir(parents=True)
    with _scratch(tmp_path) as live:
        with _scratch(tmp_path) as mine:
            assert sorted(root.iterdir()) == sorted([live, mine])
        assert list(root.iterdir()) == [live]
    assert list(root.iterdir()) == []


def test_a_password_in_what_a_command_prints_is_not_shown(tmp_path: Path) -> None:
    runner = ProcessRunner("echo login geheim failed; false", tmp_path, (), secrets=("geheim",))
    assert runner(Call({})).output == "login *** failed"


def test_lines_are_dealt_out_anew_and_headers_stay(tmp_path: Path) -> None:
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for number, file in enumerate(files):
        file.write_text("id,x\n" + "".join(f"{number * 10 + n},v\n" for n in range(5)))
    before = [file.read_text() for file in files]
    assert _rewrite_lines(files, Form.SHUFFLED)
    after = [file.read_text() for file in files]
    assert after != before
    assert sorted("".join(after).splitlines()) == sorted("".join(before).splitlines())
    assert all(text.startswith("id,x\n") for text in after)
    assert _rewrite_lines(files, Form.EMPTY)
    assert [file.read_text() for file in files] == ["id,x\n", "id,x\n"]


def test_two_lines_change_places_and_a_quoted_line_break_is_left_alone(tmp_path: Path) -> None:
    assert _dealt([[b"1\n", b"2\n"]], one_pool=True) == [[b"2\n", b"1\n"]]
    file = tmp_path / "a.csv"
    file.write_text('id,x\n1,"two\nlines"\n')
    assert not _rewrite_lines([file], Form.SHUFFLED)


def test_another_spark_conf_keeps_what_the_user_has_set(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "spark-defaults.conf").write_text("spark.some.key x")
    told = other_partitions(tmp_path / "made", {"SPARK_CONF_DIR": str(own)})
    text = (Path(told["SPARK_CONF_DIR"]) / "spark-defaults.conf").read_text()
    assert "spark.some.key x\n" in text
    assert "spark.sql.shuffle.partitions 7\n" in text
    assert (own / "spark-defaults.conf").read_text() == "spark.some.key x"
