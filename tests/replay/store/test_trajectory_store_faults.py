"""A store on a bad disk acknowledges nothing that it does not have, and goes on when it can.

The disks are real where that is possible: a file system of 256 kB that really is full, and a limit
of the operating system on how long a file may get.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.replay.made_up_trajectories import trajectory

from distrl.errors import DirectoryInUse, StorageError
from distrl.replay.store import segment_writer
from distrl.replay.store.segment_folder import SegmentFolder
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.replay.store.trajectory_store import TrajectoryStore, TrajectoryStoreSettings

ROOT = Path(__file__).parents[2]


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
ballast.write_bytes(bytes(100_000))
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
            assert (store.ids, store.nbytes) == before[:2] == (tuple(taken), before[1])
            return True
        return False

    while not refused(10_000):
        pass
    for size in (40_000, 10_000, 100_000) * 5:
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
    mount = f"mount -t tmpfs -o size=256k tmpfs {tmp_path}"
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
    resource.setrlimit(resource.RLIMIT_FSIZE, (store.nbytes + 100, most))
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
    """The first refusal comes in the middle of a record, the second in that of a preamble."""
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
    assert len(SegmentFolder(tmp_path).numbers()) == 2
    with TrajectoryStore(tmp_path) as store:
        assert store.damages == ()


# A broken disk ------------------------------------------------------------------------------------


def test_acknowledged_means_that_the_disk_was_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[tuple[str, int]] = []

    def wait(file: int) -> None:
        name = Path(f"/proc/self/fd/{file}").readlink().name
        waits.append((name, os.fstat(file).st_size))

    monkeypatch.setattr(segment_writer, "sync_file", wait)
    with TrajectoryStore(tmp_path) as store:
        store.append(trajectory("a"))
        assert waits[-1] == ("segment-000000001.records", store.nbytes)
        before = len(waits)
        store.append_all([trajectory("b"), trajectory("c")])
        assert waits[before:] == [("segment-000000001.records", store.nbytes)]
        store.append(trajectory("c"))
        assert len(waits) == before + 1
    with TrajectoryStore(tmp_path) as store:  # what a killed process has left may not be there yet
        assert waits[-1] == ("segment-000000001.records", store.nbytes)
    quick = TrajectoryStoreSettings(wait_for_disk=False)
    with TrajectoryStore(tmp_path / "quick", quick) as store:
        store.append(trajectory("a"))
        assert len(waits) == before + 2


def test_what_the_disk_would_not_confirm_is_not_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = False

    def wait(file: int) -> None:
        if broken:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(segment_writer, "sync_file", wait)
    with TrajectoryStore(tmp_path) as store:
        store.append(trajectory("a"))
        broken = True
        with pytest.raises(StorageError, match=r"store 1 trajectories.*Input/output error; see"):
            store.append(trajectory("b"))
        assert store.ids == ("a",)
        broken = False
        assert store.append(trajectory("b"))
        assert SegmentFolder(tmp_path).numbers() == [1, 2]  # never again where it failed
        assert names(tmp_path) == ["a", "b"]


def test_an_interruption_in_the_middle_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(file: int) -> None:
        raise KeyboardInterrupt

    with TrajectoryStore(tmp_path) as store:
        store.append(trajectory("a"))
        with monkeypatch.context() as patched:
            patched.setattr(segment_writer, "sync_file", interrupted)
            with pytest.raises(KeyboardInterrupt):
                store.append_all([trajectory("b"), trajectory("c")])
        assert names(tmp_path) == ["a"]
        assert store.append_all([trajectory("c"), trajectory("b")]) == [True, True]
        assert names(tmp_path) == ["a", "c", "b"]


def test_a_torn_end_of_the_memory_of_dropped_ids(tmp_path: Path) -> None:
    small = TrajectoryStoreSettings(byte_limit=20_000, wait_for_disk=False)
    given = [trajectory(str(n)) for n in range(60)]
    with TrajectoryStore(tmp_path, small) as store:
        for each in given:
            store.append(each)
        dropped = int(store.gauges()["dropped"])
    memory = tmp_path / "dropped.records"
    whole = memory.read_bytes()
    memory.write_bytes(whole + whole[20:90])
    with TrajectoryStore(tmp_path, small) as store:
        [damage] = store.damages
        assert (damage.segment, damage.length) == (0, 70)
        assert memory.read_bytes() == whole
        assert store.append_all(given) == [False] * 60
        assert store.gauges()["dropped"] == dropped


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
