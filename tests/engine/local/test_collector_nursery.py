"""Processes that somebody else forks for us are children like any other, and start quickly."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from distrl.engine.ingest.messages import Hello, to_bytes
from distrl.engine.local import collector_nursery
from distrl.engine.local.collector_nursery import CollectorNursery
from distrl.engine.local.forked_process import ForkedProcess
from distrl.engine.local.framed_socket import FramedSocket
from distrl.engine.local.process_lifetime import NAME_BYTES, is_adopted
from distrl.errors import CollectorsLost

PARENT = """
import socket, sys
from pathlib import Path
from distrl.engine.local.collector_nursery import CollectorNursery
ours, theirs = socket.socketpair()
with CollectorNursery(Path(sys.argv[1])) as nursery, open(sys.argv[1], "ab") as log:
    print(nursery.fork(theirs, log.fileno()).pid, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CollectorNursery]:
    with CollectorNursery(tmp_path_factory.mktemp("nursery") / "logs" / "nursery.log") as opened:
        yield opened


def forked(nursery: CollectorNursery, log: Path) -> tuple[ForkedProcess, socket.socket]:
    """A collector that waits for its first word, and our end of its connection."""
    ours, theirs = socket.socketpair()
    with log.open("ab") as file, theirs:
        try:
            return nursery.fork(theirs, file.fileno()), ours
        except CollectorsLost:
            ours.close()
            raise


def status(pid: int, name: str) -> str:
    [line] = [
        each
        for each in Path(f"/proc/{pid}/status").read_text().splitlines()
        if each.startswith(f"{name}:")
    ]
    return line.partition(":")[2].strip()


def nurseries() -> list[int]:
    words = ["pgrep", "-P", str(os.getpid()), "distrl-nursery"]
    return [int(each) for each in subprocess.run(words, capture_output=True).stdout.split()]


def has_ended(pid: int, seconds: float = 5.0) -> bool:
    until = time.monotonic() + seconds
    while runs(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return not runs(pid)


def runs(pid: int) -> bool:
    try:
        return not status(pid, "State").startswith("Z")  # dead, and nobody has asked
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_what_it_forks_is_our_child_alone_and_owns_nothing_of_others(
    nursery: CollectorNursery, tmp_path: Path
) -> None:
    process, ours = forked(nursery, tmp_path / "log")
    with ours:
        assert status(process.pid, "PPid") == str(os.getpid())
        assert status(process.pid, "Threads") == "1"
        assert os.getsid(process.pid) == process.pid  # Ctrl-C does not reach it
        names = [str(each.readlink()) for each in Path(f"/proc/{process.pid}/fd").iterdir()]
        assert sum(name.startswith("socket:") for name in names) == 1
        assert names.count(str(tmp_path / "log")) == 2
        assert process.poll() is None
        process.kill()
        assert process.wait() == process.poll() == -signal.SIGKILL
    process.kill()  # without effect: its id may be somebody else's by now


def test_the_end_of_the_connection_ends_it_and_its_log_says_why(
    nursery: CollectorNursery, tmp_path: Path
) -> None:
    process, ours = forked(nursery, tmp_path / "log")
    ours.close()
    assert process.wait() == 1
    assert "EOFError" in (tmp_path / "log").read_text()


def test_it_goes_by_the_name_that_it_is_given(nursery: CollectorNursery, tmp_path: Path) -> None:
    process, ours = forked(nursery, tmp_path / "log")
    name = "collector-7.12345"
    with ours:
        FramedSocket(ours).send(to_bytes(Hello(str(tmp_path), name, 7)))  # no run: it will fail
        assert process.wait() == 1
    assert "config.toml" in (tmp_path / "log").read_text()
    assert len(name) > NAME_BYTES  # which is what the kernel keeps of it


def test_a_killed_nursery_is_replaced_and_its_collectors_do_not_notice(
    nursery: CollectorNursery, tmp_path: Path
) -> None:
    first, ours = forked(nursery, tmp_path / "log")
    [before] = nurseries()
    os.kill(before, signal.SIGKILL)
    second, other = forked(nursery, tmp_path / "log")
    with ours, other:
        assert first.poll() is None
        assert status(second.pid, "PPid") == str(os.getpid())
        assert before not in nurseries()
        for each in (first, second):
            each.kill()
            each.wait()


def test_whose_child_a_process_is_is_looked_at_once_more_after_the_time_is_over() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert is_adopted(child.pid, seconds=-1.0)  # for a thread that was kept waiting so long
        child.kill()
        assert is_adopted(child.pid, seconds=-1.0)  # it has ended, and is still ours
    assert not is_adopted(child.pid, seconds=0.01)
    assert not is_adopted(os.getppid(), seconds=0.01)


def test_a_process_that_hangs_in_the_middle_costs_a_nursery_and_not_the_run(
    nursery: CollectorNursery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert nursery.is_ready(60.0)
    [first], looks = nurseries(), list[int]()

    def at_first_not(child: int) -> bool:
        looks.append(child)
        return len(looks) > 1 and is_adopted(child)

    monkeypatch.setattr(collector_nursery, "is_adopted", at_first_not)
    process, ours = forked(nursery, tmp_path / "log")
    with ours:
        assert process.pid == looks[1]
        assert first not in nurseries()
        process.kill()
        process.wait()
    os.kill(looks[0], signal.SIGKILL)
    os.waitpid(looks[0], 0)


def test_a_nursery_that_cannot_live_is_an_error(tmp_path: Path) -> None:
    log = tmp_path / "nursery.log"
    with (
        CollectorNursery(log, ["no_such_module"]) as broken,
        pytest.raises(CollectorsLost, match=r"failed 3 times in a row; .*nursery\.log"),
    ):
        forked(broken, tmp_path / "log")
    assert "No module named 'no_such_module'" in log.read_text()


def test_a_killed_parent_leaves_nobody_behind(tmp_path: Path) -> None:
    words = [sys.executable, "-c", PARENT, str(tmp_path / "log")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        found = subprocess.run(["pgrep", "-P", str(parent.pid)], capture_output=True, text=True)
        family = {int(each) for each in found.stdout.split()}
        assert child in family
        assert len(family) == 2
        parent.kill()
        assert all(map(has_ended, family))
