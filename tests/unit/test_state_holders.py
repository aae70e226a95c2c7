"""Whether a process is known to be gone."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from samewise.state import holders
from samewise.state.holders import Holder, is_gone


def test_this_process_is_not_gone() -> None:
    assert not is_gone(Holder.current())


def test_a_process_that_ended_is_gone() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert is_gone(replace(Holder.current(), pid=ended.pid))


def test_a_process_that_nobody_waited_for_is_gone() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    try:
        assert is_gone(replace(Holder.current(), pid=ended.pid, started=None))
    finally:
        ended.wait()


def test_a_process_number_with_another_start_time_is_another_process() -> None:
    me = Holder.current()
    assert me.started is not None
    assert is_gone(replace(me, started=me.started - 1))


@pytest.mark.parametrize("place", ["host", "machine", "pid_namespace"])
def test_a_process_that_cannot_be_seen_from_here_may_be_alive(place: str) -> None:
    unseen = replace(Holder.current(), pid=2**22 + 1)
    assert is_gone(unseen)
    elsewhere: dict[str, Any] = {place: "other"}
    assert not is_gone(replace(unseen, **elsewhere))


def test_another_users_process_that_proc_hides_may_be_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(pid: int, signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", forbidden)
    monkeypatch.setattr(holders, "_process", lambda pid: None)
    assert not is_gone(Holder.current())


def test_a_holder_comes_back_from_json_as_it_was() -> None:
    me = Holder.current()
    assert Holder.from_json(me.to_json()) == me


def test_a_process_name_with_parentheses_does_not_confuse() -> None:
    script = "open('/proc/self/comm', 'w').write(') S 1 (x'); input()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE) as named:
        plain = holders._process(os.getpid())
        found = holders._process(named.pid)
        assert named.stdin is not None
        named.stdin.close()
    assert plain is not None
    assert found is not None
    assert found.started >= plain.started
