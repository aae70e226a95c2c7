"""A process that has imported everything and opened nothing, and forks a child for each command.

Each command is then a real process, with a number, a lease and a death of its own, and costs no import.
Runs as `python -m tests.support.crash_zygote`. One JSON request a line on stdin; on stdout the child's
number, and later how it ended. It ends when stdin does.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import traceback
from pathlib import Path
from typing import Any


def main() -> None:
    _import_everything()
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    signal.set_wakeup_fd(write_end)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    _say({"ready": True})
    waiting = b""
    while True:
        ready, _, _ = select.select([0, read_end], [], [])
        if read_end in ready:
            os.read(read_end, 4096)
            _report_the_dead()
        if 0 in ready:
            got = os.read(0, 65536)
            if not got:
                os._exit(0)
            *lines, waiting = (waiting + got).split(b"\n")
            for line in lines:
                request = json.loads(line)
                _say({"id": request["id"], "pid": _fork(request)})


def _import_everything() -> None:
    import deltalake
    import grpc
    import pandas
    import psycopg
    import pyarrow
    import pyspark.sql.connect.observation
    import pyspark.sql.connect.session
    import sqlalchemy.dialects.sqlite
    import sqlglot

    import samewise.cli.app
    import samewise.cli.run
    import samewise.cli.setup
    import samewise.run.window
    import samewise.wiring.project

    del deltalake, grpc, pandas, psycopg, pyarrow, pyspark, sqlalchemy, sqlglot, samewise


def _fork(request: dict[str, Any]) -> int:
    # A second thread here, say gRPC's, would leave its locks taken for ever in the child. The allocator of
    # delta-rs and Arrow has one and makes ready for a fork by itself.
    tasks = [f"/proc/self/task/{number}" for number in os.listdir("/proc/self/task")]
    names = [Path(task, "comm").read_text().strip() for task in tasks]
    threads = [name for name in names if not name.startswith("jemalloc")]
    if len(threads) != 1:
        raise AssertionError(f"the zygote must not fork with these threads: {names}")
    child = os.fork()
    if child:
        return child
    try:
        code = _be(request)
    except BaseException:
        traceback.print_exc()
        code = 70
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _be(request: dict[str, Any]) -> int:
    """The child: everything that it has of its own comes from the request."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, name in enumerate(("/dev/null", request["stdout"], request["stderr"])):
        file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(file, number)
        os.close(file)
    os.chdir(request["cwd"])
    os.environ.update(request["env"])
    sys.argv = ["samewise", *request["arguments"]]

    from samewise.cli.main import main as samewise

    try:
        samewise()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    return 0


def _report_the_dead() -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        _say({"pid": pid, "code": os.waitstatus_to_exitcode(status)})


def _say(message: dict[str, Any]) -> None:
    os.write(1, json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    main()
