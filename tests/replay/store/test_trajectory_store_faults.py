"""A store on a bad disk acknowledges nothing that it does not have, and goes on when it can.

The disks are real where that is possible: a file system of a megabyte that really is full, and a
limit of the operating system on how long a file may get. Where a wait for the disk has to fail, or
is the moment of a kill, a small library (`disk_faults.c`) is preloaded into the writer.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.replay.made_up_trajectories import trajectory

from distrl.errors import DirectoryInUse, StorageError
from distrl.replay.store import trajectory_store
from distrl.replay.store.trajectory_database import checksum_of
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.replay.store.trajectory_store import TrajectoryStore

ROOT = Path(__file__).parents[3]


def names(directory: Path) -> list[str]:
    return [stored.trajectory.id for stored in TrajectoryReader(directory).read()]


# A full disk --------------------------------------------------------------------------------------

FILL_UP = """
import sys
from dataclasses import replace
from pathlib import Path
from tests.replay.made_up_trajectories import trajectory
from distrl.errors import StorageFull
from distrl.replay.store.trajectory_store import TrajectoryStore

directory, taken = Path(sys.argv[1]) / "store", []
ballast = directory.parent / "ballast"
ballast.write_bytes(bytes(400_000))
with TrajectoryStore(directory) as store:
    def send(size):
        name = f"t{len(taken)}"
        pair = [replace(trajectory(name), notes=("x" * size,)), trajectory(f"{name} with it")]
        assert store.append_all(pair) == [True, True]
        taken.extend(each.id for each in pair)

    def refused(size):
        before = store.ids, store.nbytes, store.position
        try:
            send(size)
        except StorageFull as error:
            assert "could not store 2 trajectories" in str(error), error
            assert "No space left on device" in str(error), error
            assert (store.ids, store.nbytes, store.position) == before
            assert store.ids == tuple(taken)
            return True
        return False

    while not refused(10_000):
        pass
    for size in (40_000, 20_000, 100_000) * 5:
        assert refused(size)
    assert len(taken) > 10, taken
    ballast.unlink()  # there is room again
    for _ in range(3):
        send(10_000)
    assert store.append(trajectory(taken[0])) is False
    assert [stored.trajectory.id for stored in store.read()] == taken
    assert store.damages == ()
with TrajectoryStore(directory) as store:
    assert list(store.ids) == taken
    assert [stored.trajectory.id for stored in store.read()] == taken
    assert store.damages == ()
print("held", len(taken))
"""


def test_a_full_disk(tmp_path: Path) -> None:
    """Refused before anything is acknowledged, nothing is lost, and it goes on with new space."""
    mount = f"mount -t tmpfs -o size=1m tmpfs {tmp_path}"
    alone = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    if not shutil.which("unshare") or subprocess.run([*alone, mount], check=False).returncode:
        pytest.skip("no file system may be mounted here, not even for ourselves")
    answer = subprocess.run(
        [*alone, f'{mount} && exec "$0" -c "$1" {tmp_path}', sys.executable, FILL_UP],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("held ")


LIMITED = """
import resource, sys
from pathlib import Path
from tests.replay.made_up_trajectories import trajectory
from distrl.errors import StorageFull
from distrl.replay.store.trajectory_store import TrajectoryStore

_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
with TrajectoryStore(Path(sys.argv[1])) as store:
    assert store.append(trajectory("a"))
    wal = Path(sys.argv[1]) / "trajectories.sqlite-wal"
    resource.setrlimit(resource.RLIMIT_FSIZE, (wal.stat().st_size + 100, most))
    try:
        store.append(trajectory("b"))
    except StorageFull as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, most))
    try:
        store.append(trajectory("b"))
    except StorageFull as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    assert "b" not in store
    assert store.append_all([trajectory("a"), trajectory("b")]) == [False, True]
"""


def test_a_limit_on_files(tmp_path: Path) -> None:
    """The first refusal comes in the middle of a page, the second at once."""
    answer = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert answer.returncode == 0, answer.stderr
    first, second = answer.stdout.splitlines()
    assert str(tmp_path) in first
    assert "File too large; make room" in first
    assert "File too large" in second
    assert names(tmp_path) == ["a", "b"]
    with TrajectoryStore(tmp_path) as store:
        assert store.damages == ()


# A broken disk ------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler to build disk_faults.c with")
    built = tmp_path_factory.mktemp("library") / "disk_faults.so"
    source = Path(__file__).with_name("disk_faults.c")
    words = [compiler, "-shared", "-fPIC", "-o", str(built), str(source), "-ldl"]
    subprocess.run(words, check=True)
    return built


class FaultyDisk:
    """Runs scripts whose waits for the disk are listed, fail, or kill."""

    def __init__(self, library: Path, folder: Path) -> None:
        self.log, self.order = folder / "waits", folder / "order"
        self.store = folder / "store"
        self._environment = os.environ | {
            "LD_PRELOAD": str(library), "DISK_LOG": str(self.log), "DISK_ORDER": str(self.order),
        }  # fmt: skip

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-c", script, str(self.store), str(self.order), str(self.log)]
        return subprocess.run(
            words, env=self._environment, capture_output=True, text=True, check=False, cwd=ROOT
        )


@pytest.fixture
def disk(library: Path, tmp_path: Path) -> FaultyDisk:
    return FaultyDisk(library, tmp_path)


BEGIN = """
import sys
from pathlib import Path
from tests.replay.made_up_trajectories import trajectory
from distrl.errors import StorageError
from distrl.replay.store.trajectory_store import TrajectoryStore, TrajectoryStoreSettings

directory, order, log = map(Path, sys.argv[1:])
def waits():
    return log.read_text().split() if log.exists() else []
"""

WAITED = (
    BEGIN
    + """
with TrajectoryStore(directory) as store:
    assert {"store", "trajectories.sqlite-wal"} <= set(waits()), waits()
    for batch in ("a", "bcd", "efghijkl"):
        before = len(waits())
        store.append_all([trajectory(name) for name in batch])
        assert waits()[before:] == ["trajectories.sqlite-wal"], waits()[before:]
    before = len(waits())
    store.append(trajectory("c"))
    assert len(waits()) == before
quick = TrajectoryStoreSettings(wait_for_disk=False)
with TrajectoryStore(directory.parent / "quick", quick) as store:
    before = len(waits())
    store.append(trajectory("a"))
    assert len(waits()) == before
"""
)


def test_acknowledged_means_that_the_disk_was_waited_for_once_a_batch(disk: FaultyDisk) -> None:
    answer = disk.run(WAITED)
    assert answer.returncode == 0, answer.stderr


FAILING = (
    BEGIN
    + """
with TrajectoryStore(directory) as store:
    store.append(trajectory("a"))
    order.write_text("fail")
    try:
        store.append_all([trajectory("b"), trajectory("c")])
    except StorageError as error:
        print(error)
    assert store.ids == ("a",), store.ids
    assert [each.trajectory.id for each in store.read()] == ["a"]
    order.write_text("")
    assert store.append_all([trajectory("c"), trajectory("b")]) == [True, True]
    assert store.ids == ("a", "c", "b")
"""
)


def test_what_the_disk_would_not_confirm_is_not_acknowledged(disk: FaultyDisk) -> None:
    answer = disk.run(FAILING)
    assert answer.returncode == 0, answer.stderr
    assert "could not store 2 trajectories" in answer.stdout
    assert "Input/output error; see" in answer.stdout
    assert names(disk.store) == ["a", "c", "b"]


KILLED = (
    BEGIN
    + """
with TrajectoryStore(directory) as store:
    store.append_all([trajectory("a"), trajectory("b")])
    print("acknowledged", flush=True)
    order.write_text("kill")
    store.append_all([trajectory(name) for name in "cdefghij"])
"""
)


def test_killed_while_a_group_commit_waits_for_the_disk(disk: FaultyDisk) -> None:
    """All of the batch is there or nothing of it, and what is sent again is there once."""
    answer = disk.run(KILLED)
    assert (answer.returncode, answer.stdout) == (-signal.SIGKILL, "acknowledged\n")
    assert (disk.store / "trajectories.sqlite-wal").stat().st_size
    assert names(disk.store) in (list("ab"), list("abcdefghij"))
    with TrajectoryStore(disk.store) as store:
        store.append_all([trajectory(name) for name in "abcdefghij"])
        assert store.ids == tuple("abcdefghij")
        assert store.damages == ()
    assert names(disk.store) == list("abcdefghij")


def test_an_interruption_in_the_middle_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(seq: int, name: bytes, body: bytes) -> int:
        if name == b"c":
            raise KeyboardInterrupt
        return checksum_of(seq, name, body)

    with TrajectoryStore(tmp_path) as store:
        store.append(trajectory("a"))
        with monkeypatch.context() as patched:
            patched.setattr(trajectory_store, "checksum_of", interrupted)
            with pytest.raises(KeyboardInterrupt):
                store.append_all([trajectory("b"), trajectory("c")])
        assert names(tmp_path) == ["a"]
        assert store.append_all([trajectory("c"), trajectory("b")]) == [True, True]
        assert names(tmp_path) == ["a", "c", "b"]


def test_a_place_where_no_store_can_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match=r"could not open: Not a directory"):
        TrajectoryStore(tmp_path / "file" / "store").open()


# One writer ---------------------------------------------------------------------------------------

HOLD = """
import sys, time
from pathlib import Path
from distrl.replay.store.trajectory_store import TrajectoryStore

with TrajectoryStore(Path(sys.argv[1])):
    print("open", flush=True)
    time.sleep(60)
"""


def test_a_second_writer_is_told_who_is_there_and_a_dead_one_holds_nothing(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(DirectoryInUse, match=f"{tmp_path} is in use: process {holder.pid} "):
            TrajectoryStore(tmp_path).open()
        assert names(tmp_path) == []  # readers need no lock
        holder.send_signal(signal.SIGKILL)
    with TrajectoryStore(tmp_path), pytest.raises(DirectoryInUse, match=f"process {os.getpid()} "):
        TrajectoryStore(tmp_path).open()
    with TrajectoryStore(tmp_path) as store:
        assert store.append(trajectory("a"))


FORK = """
import os, sys, time
from pathlib import Path
from distrl.replay.store.trajectory_store import TrajectoryStore

with TrajectoryStore(Path(sys.argv[1])):
    if not os.fork():
        print(os.getpid(), flush=True)
    time.sleep(60)
"""


def test_a_forked_child_does_not_keep_the_lock_of_its_dead_parent(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", FORK, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    with parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        try:
            with pytest.raises(DirectoryInUse):
                TrajectoryStore(tmp_path).open()
            parent.kill()
            parent.wait()
            with TrajectoryStore(tmp_path) as store:
                assert store.append(trajectory("a"))
        finally:
            os.kill(child, signal.SIGKILL)
