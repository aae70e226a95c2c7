"""A state store on a PostgreSQL server that many runners share, that restarts, and that asks who they are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from sqlalchemy import Connection, text

from samewise.core.errors import Busy, ConfigError, Transient
from samewise.core.records import Point, Stamp
from samewise.state import leases, receipts, runs, store, watermarks
from samewise.state.checkpoint import checkpoint
from samewise.state.failures import StoreAway
from samewise.state.heartbeat import Heartbeat
from samewise.state.store import Store
from tests.support.light_runner import FIRST_DAY
from tests.support.postgres import GUARDED, PASSWORD, PostgresServer
from tests.support.state import TARGET, a_receipt, a_run, day, outputs, start_python, take

DAYS = 100
RUNNERS = 8
PATIENCE_SECONDS = 300


def start_runner(url: str, folder: Path, days: int = DAYS) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.support.light_runner", url, str(folder), str(days)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def commits(folder: Path) -> Counter[str]:
    """How often each day was committed."""
    stamps = [Stamp.parse(file.read_text()) for file in folder.glob("*.json")]
    return Counter(f"{stamp.window.start:%Y-%m-%d}" for stamp in stamps if stamp is not None)


def every_day(days: int = DAYS) -> Counter[str]:
    return Counter(str(FIRST_DAY + timedelta(days=number)) for number in range(days))


def test_eight_runners_load_a_hundred_windows_each_once(postgres_server: PostgresServer, tmp_path: Path) -> None:
    url = postgres_server.new_url()
    printed = outputs([start_runner(url, tmp_path) for _ in range(RUNNERS)], PATIENCE_SECONDS)
    did = [int(one) for one in printed]
    assert (sum(did), commits(tmp_path)) == (DAYS, every_day())
    # Otherwise one of them did everything, and nothing was shown.
    assert sum(one > 0 for one in did) > 1
    with Store.open(url) as opened:
        closed = Counter(run.window.key for run in runs.history(opened, "light", limit=10 * DAYS))
        assert (len(closed), set(closed.values())) == (DAYS, {1})
        end = datetime.combine(FIRST_DAY + timedelta(days=DAYS), datetime.min.time(), UTC)
        assert watermarks.current(opened, "light", "load") == end


def test_runners_that_are_killed_lose_no_window(postgres_server: PostgresServer, tmp_path: Path) -> None:
    url = postgres_server.new_url()
    runners = [start_runner(url, tmp_path) for _ in range(RUNNERS)]
    _until(lambda: len(commits(tmp_path)) > DAYS // 10)
    for victim in runners[: RUNNERS // 2]:
        victim.kill()
        victim.communicate()
    outputs(runners[RUNNERS // 2 :], PATIENCE_SECONDS)
    assert commits(tmp_path) == every_day()
    with Store.open(url) as opened:
        assert len(receipts.done_windows(opened, "light", "load", "light")) == DAYS


# A server that restarts


@pytest.fixture
def server(own_server: PostgresServer) -> Iterator[PostgresServer]:
    """It runs again after each test, whatever the test did to it."""
    yield own_server
    own_server.stop()
    own_server.start()


@contextmanager
def restarting(server: PostgresServer, how: signal.Signals, seconds: float) -> Iterator[None]:
    """The server goes down now, and comes back after so many seconds."""
    server.stop(how)
    back = threading.Timer(seconds, server.start)
    back.start()
    try:
        yield
    finally:
        back.join()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["fast", "immediate"])
def test_a_run_outlives_a_restart_of_the_server(server: PostgresServer, how: signal.Signals) -> None:
    with Store.open(server.new_url()) as opened:
        lease = take(opened)
        run = runs.insert_run(opened, a_run(), lease)
        with restarting(server, how, 1.5):
            run = runs.advance(opened, run, Point.COMMITTING, lease)
        checkpoint(opened, run, a_receipt(run), lease)
        assert receipts.latest(opened, run.pipeline, run.task, run.window) is not None


def test_a_heartbeat_outlives_a_restart_of_the_server(server: PostgresServer) -> None:
    with Store.open(server.new_url()) as opened, Heartbeat(opened, take(opened, ttl_seconds=6)) as heartbeat:
        before = _expiry(opened)
        with restarting(server, signal.SIGINT, 1.5):
            pass
        _until(lambda: _expiry(opened) > before)
        heartbeat.check()


def test_a_heartbeat_does_not_wait_for_a_server_longer_than_its_lease_lasts(server: PostgresServer) -> None:
    with Store.open(server.new_url()) as opened, Heartbeat(opened, take(opened, ttl_seconds=1)) as heartbeat:
        server.stop()
        _until(lambda: heartbeat.lost)


def test_a_whole_pipeline_outlives_restarts_of_the_server(server: PostgresServer, tmp_path: Path) -> None:
    url = server.new_url()
    runners = [start_runner(url, tmp_path, days=40) for _ in range(2)]
    for loaded in (5, 15):
        _until(lambda so_many=loaded: len(commits(tmp_path)) > so_many)  # type: ignore[misc]
        with restarting(server, signal.SIGINT, 0.5):
            pass
    outputs(runners, PATIENCE_SECONDS)
    assert commits(tmp_path) == every_day(40)


def test_a_checkpoint_whose_connection_is_cut_half_way_is_made_again_and_counts_once(
    postgres_server: PostgresServer,
) -> None:
    schema = postgres_server.new_schema()
    url = f"{postgres_server.url('postgres')}?options=-csearch_path%3D{schema}&application_name={schema}"
    cut: list[object] = []

    def cut_once(done: object) -> datetime:
        if not cut:
            with postgres_server.connect() as other:
                found = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = %s"
                cut.extend(other.execute(found, (schema,)).fetchall())
        return day(25).end

    with Store.open(url) as opened:
        lease = take(opened)
        run = runs.insert_run(opened, a_run(), lease)
        checkpoint(opened, run, a_receipt(run), lease, watermark=cut_once)
        assert cut
        assert receipts.done_windows(opened, run.pipeline, run.task, run.target) == {run.window}
        assert len(watermarks.moves(opened, run.pipeline, run.task)) == 1


def test_a_lease_whose_answer_was_lost_is_this_runners_own(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = Connection.commit
    lost: list[bool] = []

    def lose_the_answer(connection: Connection) -> None:
        commit(connection)
        if not lost:
            lost.append(True)
            raise StoreAway("the answer was lost")

    with Store.open(postgres_server.new_url()) as opened:
        monkeypatch.setattr(Connection, "commit", lose_the_answer)
        lease = take(opened)
        assert (lost, lease.epoch) == ([True], 1)
        with pytest.raises(Busy):
            take(opened)
        leases.release(opened, lease)
        assert take(opened).epoch == 2


def test_a_server_that_stays_away_is_waited_for_once(server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "RIDE_OUT_SECONDS", 1.0)
    with Store.open(server.new_url()) as opened:
        server.stop()
        waits = []
        for _ in range(3):
            began = time.monotonic()
            with pytest.raises(Transient, match="could not be reached"):
                runs.get(opened, "r")
            waits.append(time.monotonic() - began > 0.9)
        assert waits == [True, False, False]
        server.start()
        assert runs.get(opened, "r") is None
        server.stop()
        with pytest.raises(Transient):
            runs.get(opened, "r")


def test_a_runner_whose_own_clock_is_wrong_takes_no_lease_that_still_holds(postgres_server: PostgresServer) -> None:
    url = postgres_server.new_url()
    script = """
import datetime, sys, time
class Tomorrow(datetime.datetime):
    @classmethod
    def now(cls, zone=None):
        return super().now(zone) + datetime.timedelta(days=1)
real = time.time
datetime.datetime, time.time = Tomorrow, lambda: real() + 86400
from samewise.core.errors import Busy
from samewise.state import leases
from samewise.state.holders import Holder
from samewise.state.store import Store
store = Store.open(sys.argv[1])
try:
    leases.acquire(store, sys.argv[2], sys.argv[3], Holder.current(), 60)
except Busy:
    print("busy")
print(leases.acquire(store, sys.argv[2], "free", Holder.current(), 60).expires_at.timestamp())
"""
    with Store.open(url) as opened:
        take(opened)
        (printed,) = outputs([start_python(script, url, TARGET, day(25).key)])
        busy, expires_at = printed.split()
        assert busy == "busy"
        assert 0 < float(expires_at) - opened.now().timestamp() <= 60


# Who may enter


@pytest.fixture
def guarded(postgres_server: PostgresServer) -> str:
    """A schema of the role that needs a password."""
    schema = postgres_server.new_schema()
    with postgres_server.connect() as connection:
        connection.execute(f"ALTER SCHEMA {schema} OWNER TO {GUARDED}")
    return schema


def opens(url: str) -> bool:
    with Store.open(url) as opened:
        assert PASSWORD not in opened.place
        assert quote(PASSWORD, safe="") not in opened.place
        return opened.now() is not None


def test_a_url_says_everything(postgres_server: PostgresServer, guarded: str) -> None:
    place = f"127.0.0.1:{postgres_server.port}/postgres?options=-csearch_path%3D{guarded}"
    assert opens(f"postgresql://{GUARDED}:{quote(PASSWORD, safe='')}@{place}")


def test_a_password_among_the_options_is_not_shown(postgres_server: PostgresServer, guarded: str) -> None:
    place = f"127.0.0.1:{postgres_server.port}/postgres?options=-csearch_path%3D{guarded}"
    assert opens(f"postgresql://{GUARDED}@{place}&password={quote(PASSWORD, safe='')}")


def test_the_environment_says_everything(
    postgres_server: PostgresServer, guarded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {
        "PGHOST": "127.0.0.1",
        "PGPORT": str(postgres_server.port),
        "PGUSER": GUARDED,
        "PGPASSWORD": PASSWORD,
        "PGDATABASE": "postgres",
        "PGOPTIONS": f"-csearch_path={guarded}",
    }
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    assert opens("postgresql://")


def test_a_service_file_says_everything(
    postgres_server: PostgresServer, guarded: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PGSERVICEFILE", str(_service_file(postgres_server, guarded, tmp_path)))
    assert opens("postgresql:///?service=shop")


def test_a_service_that_is_not_there_is_a_wrong_setting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "none"))
    with pytest.raises(ConfigError):
        Store.open("postgresql:///?service=shop")


@pytest.mark.parametrize("wanted", ["require", "verify-ca", "verify-full"])
def test_a_client_may_insist_on_tls(postgres_server: PostgresServer, wanted: str) -> None:
    url = f"{postgres_server.new_url()}&sslmode={wanted}&sslrootcert={postgres_server.certificate}"
    with Store.open(url) as opened, opened.reading() as connection:
        assert connection.execute(text("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")).scalar()


def test_a_server_that_shows_another_certificate_is_refused(postgres_server: PostgresServer, tmp_path: Path) -> None:
    other = tmp_path / "other.crt"
    words = ["openssl", "req", "-new", "-x509", "-days", "2", "-nodes", "-subj", "/CN=localhost"]
    subprocess.run([*words, "-keyout", tmp_path / "key", "-out", other], check=True, capture_output=True)
    url = f"{postgres_server.new_url()}&sslmode=verify-full&sslrootcert={other}"
    with pytest.raises(ConfigError, match="certificate verify failed"):
        Store.open(url)


def test_a_wrong_password_is_a_wrong_setting_and_is_not_shown(postgres_server: PostgresServer) -> None:
    with pytest.raises(ConfigError, match="authentication failed") as caught:
        Store.open(f"postgresql://{GUARDED}:falsch@127.0.0.1:{postgres_server.port}/postgres?password=verkehrt")
    told = f"{caught.value.message} {caught.value.next_step} {caught.value.__cause__}"
    assert not any(word in told for word in ("falsch", "verkehrt"))


def _service_file(server: PostgresServer, schema: str, folder: Path) -> Path:
    file = folder / "services.conf"
    file.write_text(
        f"[shop]\nhost=127.0.0.1\nport={server.port}\nuser={GUARDED}\npassword={PASSWORD}\n"
        f"dbname=postgres\noptions=-csearch_path={schema}\n"
    )
    return file


def _expiry(opened: Store) -> datetime:
    with opened.reading() as connection:
        found = connection.execute(text("SELECT expires_at FROM samewise_leases")).scalar_one()
    return datetime.fromisoformat(str(found))


def _until(reached: Callable[[], bool], seconds: float = 60) -> None:
    give_up_at = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < give_up_at
        time.sleep(0.02)
