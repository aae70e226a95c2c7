from __future__ import annotations

import os
import signal
import subprocess
import threading

import pytest

from samewise.core import failpoints
from samewise.core.errors import UsageError
from samewise.core.failpoints import VARIABLE, Failpoint, armed, reach
from tests.support.state import start_python

REACH = "import sys; from samewise.core.failpoints import *; reach(Failpoint(sys.argv[1])); print('alive')"


def _reach(point: Failpoint, monkeypatch: pytest.MonkeyPatch, order: str) -> subprocess.Popen[str]:
    monkeypatch.setenv(VARIABLE, order)
    return start_python(REACH, point)


@pytest.mark.parametrize("point", list(Failpoint))
def test_a_failpoint_kills_the_process_that_reaches_it(monkeypatch: pytest.MonkeyPatch, point: Failpoint) -> None:
    process = _reach(point, monkeypatch, point)
    printed, _ = process.communicate(timeout=60)
    assert (process.returncode, printed) == (-signal.SIGKILL, "")


def test_a_failpoint_can_stop_the_process_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    process = _reach(Failpoint.COMMITTING, monkeypatch, "committing:stop")
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    process.send_signal(signal.SIGCONT)
    printed, _ = process.communicate(timeout=60)
    assert (process.returncode, printed.strip()) == (0, "alive")


def test_another_failpoint_than_the_one_asked_for_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "committed")
    reach(Failpoint.COMMITTING)


@pytest.mark.parametrize("order", [None, ""])
def test_without_an_order_no_failpoint_is_armed(monkeypatch: pytest.MonkeyPatch, order: str | None) -> None:
    if order is None:
        monkeypatch.delenv(VARIABLE, raising=False)
    else:
        monkeypatch.setenv(VARIABLE, order)
    assert armed() is None


def test_a_failpoint_that_does_not_exist_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "commited")
    with pytest.raises(UsageError, match="commited"):
        armed()


def test_an_action_that_does_not_exist_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "committed:pause")
    with pytest.raises(UsageError, match="pause"):
        armed()


def test_an_order_kills_this_thread_once_and_no_other() -> None:
    order = failpoints.Kill(Failpoint.STAGED)
    others: list[str] = []

    def elsewhere() -> None:
        failpoints.reach(Failpoint.STAGED)
        others.append("alive")

    with failpoints.killing(order):
        failpoints.reach(Failpoint.CHECKED)
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        with pytest.raises(failpoints.Killed, match="killed at staged"):
            failpoints.reach(Failpoint.STAGED)
        failpoints.reach(Failpoint.STAGED)
    assert (order.fired, others) == (True, ["alive"])
    failpoints.reach(Failpoint.STAGED)


def test_an_order_that_is_not_armed_lets_the_point_pass() -> None:
    order = failpoints.Kill(Failpoint.STAGED, armed=False)
    with failpoints.killing(order):
        failpoints.reach(Failpoint.STAGED)
    assert not order.fired


def test_no_handler_of_errors_catches_a_kill() -> None:
    assert not issubclass(failpoints.Killed, Exception)
