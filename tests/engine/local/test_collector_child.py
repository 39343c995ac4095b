"""Forked processes: alone, watched through the forkserver's death, and dead with the learner."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.local.light_collectors import light_collector
from tests.engine.local.process_facts import PATIENCE, forkservers, has_ended, runs, status

from distrl.engine.ingest.messages import Refused, Stop
from distrl.engine.local.collector_pool import (
    KILLED,
    MAX_UNSENT,
    SEND_SECONDS,
    CollectorChild,
    Forkserver,
)
from distrl.engine.local.process_lifetime import NAME_BYTES
from distrl.engine.supervision.collector_registry import CollectorInfo, Registration
from distrl.errors import CollectorsLost
from distrl.process_environment import TO_FORK_FROM
from distrl.runs.run_directory import RunDirectory

pytestmark = pytest.mark.timeout(600)
LEARNER = """
import sys
from pathlib import Path
from tests.engine.local.test_collector_child import light_forkserver, started
with light_forkserver() as forkserver:
    child = started(forkserver, Path(sys.argv[1]))
    print(child.pid, flush=True)
    sys.stdin.read()
"""
BROKEN = """
import multiprocessing
from distrl.engine.local.collector_pool import Forkserver
multiprocessing.get_context("forkserver").set_executable("/bin/false")
with Forkserver() as forkserver:
    forkserver.is_ready(120.0)
"""


def light_forkserver() -> Forkserver:
    return Forkserver(["tests.engine.local.light_collectors"], light_collector)


def started(
    forkserver: Forkserver, folder: Path, name: str = "collector-0.1", state: str = ""
) -> CollectorChild:
    """A collector that has set itself up, as its first heartbeat says."""
    (folder / "logs").mkdir(exist_ok=True)
    (folder / "logs" / f"{name}.log").touch()
    child = forkserver.start(RunDirectory(folder), Registration(CollectorInfo(name, 0), state))
    if not state:
        child.link.receive()
    return child


@pytest.fixture(scope="module")
def forkserver() -> Iterator[Forkserver]:
    with light_forkserver() as opened:
        assert opened.is_ready(PATIENCE)
        yield opened


def test_a_collector_is_alone_and_owns_nothing_of_others(
    forkserver: Forkserver, tmp_path: Path
) -> None:
    other = started(forkserver, tmp_path, "collector-1.1")
    child = started(forkserver, tmp_path)
    assert status(child.pid, "Threads") == "1"
    assert os.getsid(child.pid) == child.pid  # Ctrl-C does not reach it
    names = [str(each.readlink()) for each in Path(f"/proc/{child.pid}/fd").iterdir()]
    assert sum(name.startswith("socket:") for name in names) == 1
    assert names.count(str(tmp_path / "logs" / "collector-0.1.log")) == 2
    assert child.end().startswith("ended with code -9")
    other.end()


def test_it_goes_by_the_name_that_it_is_given(forkserver: Forkserver, tmp_path: Path) -> None:
    name = "collector-7.12345"
    child = started(forkserver, tmp_path, name)
    assert status(child.pid, "Name") == name[:NAME_BYTES]
    child.end()


def test_its_exit_code_and_its_last_line_are_known(forkserver: Forkserver, tmp_path: Path) -> None:
    child = started(forkserver, tmp_path, state="fail")
    assert not child.is_running(PATIENCE)
    assert child.end() == "ended with code 7: the phone has melted"
    child.kill()  # without effect: its id may be another process's by now


def test_one_that_the_kernel_kills_is_told_from_one_that_failed(
    forkserver: Forkserver, tmp_path: Path
) -> None:
    child = started(forkserver, tmp_path)
    os.kill(child.pid, signal.SIGKILL)  # as it does where memory has run out
    assert not child.is_running(PATIENCE)
    assert child.end().startswith(f"ended with code -9{KILLED}")


def test_a_message_that_comes_too_late_does_not_count_as_the_kill(
    forkserver: Forkserver, tmp_path: Path
) -> None:
    child = started(forkserver, tmp_path)
    os.kill(child.pid, signal.SIGKILL)
    assert not child.is_running(PATIENCE)
    child.send(Stop(0.0))
    assert child.end().startswith(f"ended with code -9{KILLED}")


def test_one_that_is_told_to_stop_ends_with_code_0(forkserver: Forkserver, tmp_path: Path) -> None:
    child = started(forkserver, tmp_path)
    child.send(Stop(0.0))
    assert not child.is_running(PATIENCE)
    assert child.end() == "ended with code 0"


def test_one_that_hangs_and_reads_nothing_is_killed_in_time_and_that_is_said(
    forkserver: Forkserver, tmp_path: Path
) -> None:
    child = started(forkserver, tmp_path)
    os.kill(child.pid, signal.SIGSTOP)
    while not child.link.unsent:  # until its socket is full
        child.send(Stop(0.0))
    child.check_taking(100.0)
    child.check_taking(100.0 + 0.9 * SEND_SECONDS)
    child.send_on()
    assert child.is_running()
    child.check_taking(100.0 + SEND_SECONDS)
    assert not child.is_running(PATIENCE)
    assert child.end().startswith("took no message for 5 s")


def test_the_time_to_take_a_message_begins_anew_with_every_byte_that_is_taken(
    forkserver: Forkserver, tmp_path: Path
) -> None:
    child = started(forkserver, tmp_path)
    os.kill(child.pid, signal.SIGSTOP)
    child.send(Refused("1", "x" * 1_000_000))  # more than a socket holds
    child.check_taking(0.0)
    before = child.link.unsent
    os.kill(child.pid, signal.SIGCONT)
    while child.link.unsent == before:
        assert wait_for_room(child)
        child.send_on()
    child.check_taking(10.0 * SEND_SECONDS)
    assert child.is_running()
    assert not child.trouble
    child.end()


def test_one_that_leaves_too_much_unread_is_killed(forkserver: Forkserver, tmp_path: Path) -> None:
    child = started(forkserver, tmp_path)
    os.kill(child.pid, signal.SIGSTOP)
    child.send(Refused("1", "x" * (2 * MAX_UNSENT)))
    assert not child.is_running(PATIENCE)
    assert " bytes of messages unread" in child.end()


def wait_for_room(child: CollectorChild) -> bool:
    return bool(select.select([], [child.link], [], PATIENCE)[1])


@pytest.mark.slow
def test_what_a_real_collector_cannot_do_is_in_its_log(tmp_path: Path) -> None:
    with Forkserver() as real:
        child = started(real, tmp_path, state="{}")  # there is no config
        assert not child.is_running(PATIENCE)
        assert child.end().startswith("ended with code 1: ")
    assert "config.toml" in (tmp_path / "logs" / "collector-0.1.log").read_text()


def test_a_killed_forkserver_is_replaced_and_its_collectors_do_not_notice(
    forkserver: Forkserver, tmp_path: Path
) -> None:
    first = started(forkserver, tmp_path)
    [before] = forkservers()
    os.kill(before, signal.SIGKILL)
    second = started(forkserver, tmp_path, "collector-0.2")
    assert before not in forkservers()
    assert first.is_running()
    assert second.is_running()
    os.kill(first.pid, signal.SIGKILL)
    assert not first.is_running(PATIENCE)
    for each in (first, second):
        each.end()


def test_a_module_that_cannot_be_imported_is_an_error() -> None:
    with (
        Forkserver(["distrl.no_such_module"]) as broken,
        pytest.raises(CollectorsLost, match=r"imports distrl\.no_such_module ended with code 1"),
    ):
        broken.is_ready(PATIENCE)


@pytest.mark.slow
def test_a_forkserver_that_cannot_run_is_an_error() -> None:
    done = subprocess.run([sys.executable, "-c", BROKEN], capture_output=True, text=True)
    assert "CollectorsLost" in done.stderr
    assert "forkserver failed 5 times in a row" in done.stderr


@pytest.mark.slow
def test_a_killed_learner_leaves_no_process_behind_not_even_one_that_hangs(tmp_path: Path) -> None:
    words = [sys.executable, "-c", LEARNER, str(tmp_path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as learner:
        assert learner.stdout is not None
        collector = int(learner.stdout.readline())
        [server] = forkservers(learner.pid)
        os.kill(collector, signal.SIGSTOP)
        learner.kill()
        assert has_ended(collector)
        assert has_ended(server)


def test_the_environment_of_the_learner_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    before = dict(os.environ)
    with light_forkserver():
        assert {name: os.environ[name] for name in TO_FORK_FROM} == TO_FORK_FROM
    assert dict(os.environ) == before


def test_what_runs_is_seen() -> None:
    assert runs(os.getpid())


def test_a_collector_has_the_environment_of_its_learner_not_of_the_older_forkserver(
    forkserver: Forkserver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run whose emulators are on a PATH that an earlier run of this process did not have."""
    monkeypatch.setenv("TOLD_LATER", "here")
    child = started(forkserver, tmp_path, state="environment")
    child.link.receive()
    assert (tmp_path / "environment").read_text() == "here"
    child.kill()
    child.end()
