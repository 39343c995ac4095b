"""What was played is on the disk before the collector goes on, until the learner has it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.replay.made_up_trajectories import trajectory

from distrl.engine.join import trajectory_spool
from distrl.engine.join.join_messages import MAX_DELIVERIES
from distrl.engine.join.trajectory_spool import TrajectorySpool
from distrl.errors import DataLost, DirectoryInUse
from distrl.records import Trajectory
from distrl.replay.trajectory_encoding import decode_trajectory, encode_trajectory

LONG = 60.0


def flip(file: Path, at: int) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])


def spooled(folder: Path) -> Path:
    """The database of a spool in which one waits."""
    with TrajectorySpool(folder, 10) as spool:
        assert len(spool.member) == 32
        spool.begin("run")
        spool.put(trajectory("c/1"))
    return folder / "spool.sqlite"


def test_what_a_disk_has_damaged_is_set_aside_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = spooled(tmp_path)
    flip(file, file.read_bytes().index(encode_trajectory(trajectory("c/1"))[:32]) + 40)
    with TrajectorySpool(tmp_path, 10) as spool:
        spool.begin("run")
        assert spool.batch(0.0) == []
        assert spool.unusable == 1
    assert "disk has damaged it" in caplog.text


def test_what_was_left_is_decoded_once_and_nobody_waits_for_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoding, go_on, decoded = threading.Event(), threading.Event(), list[bytes]()

    def slow(data: bytes, *, verify: bool) -> Trajectory:
        decoding.set()
        assert go_on.wait(LONG)
        decoded.append(data)
        return decode_trajectory(data, verify=verify)

    spooled(tmp_path)
    monkeypatch.setattr(trajectory_spool, "decode_trajectory", slow)
    with TrajectorySpool(tmp_path, 10) as spool, ThreadPoolExecutor(1) as thread:
        spool.begin("run")
        batch = thread.submit(spool.batch, 0.0)
        try:
            assert decoding.wait(LONG)
            assert thread_done(lambda: spool.put(trajectory("c/2")))
        finally:
            go_on.set()
        assert [each.id for each in batch.result(LONG)] == ["c/1"]
        spool.begin("run")  # after a cut
        assert ids(spool) == ["c/1", "c/2"]
        assert len(decoded) == 1


def thread_done(work: Callable[[], object]) -> bool:
    """Whether it ends while nobody else goes on."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(LONG)
    return not thread.is_alive()


@pytest.mark.parametrize("gone", [True, False])
def test_a_spool_that_was_emptied_is_refused(tmp_path: Path, gone: bool) -> None:
    file = spooled(tmp_path)
    file.unlink() if gone else file.write_bytes(b"")
    with pytest.raises(DataLost, match="gone or empty"), TrajectorySpool(tmp_path, 10):
        pass


def test_a_member_that_is_not_what_it_was_is_refused(tmp_path: Path) -> None:
    spooled(tmp_path)
    flip(tmp_path / "member", 3)
    with TrajectorySpool(tmp_path, 10) as spool, pytest.raises(DataLost, match="not as it was"):
        assert spool.member
    (tmp_path / "member").unlink()
    with TrajectorySpool(tmp_path, 10) as spool, pytest.raises(DataLost, match="member is gone"):
        assert spool.member


def test_a_member_of_earlier_versions_is_known(tmp_path: Path) -> None:
    spooled(tmp_path)
    (tmp_path / "member").write_text("a" * 32)
    with TrajectorySpool(tmp_path, 10) as spool:
        assert spool.member == "a" * 32


def ids(spool: TrajectorySpool) -> list[str]:
    return [each.id for each in spool.batch(0.0)]


def test_it_is_kept_over_a_restart_until_it_is_delivered(tmp_path: Path) -> None:
    with TrajectorySpool(tmp_path / "spool", 10) as spool:
        member = spool.member
        spool.begin("run")
        assert spool.put(trajectory("c/1"))
        assert spool.put(trajectory("c/2"))
        assert not spool.put(trajectory("c/1"))
    with TrajectorySpool(tmp_path / "spool", 10) as spool:
        assert spool.member == member
        spool.begin("run")
        first, second = spool.batch(0.0)
        assert (first.id, second.id) == ("c/1", "c/2")
        assert decode_trajectory(first.data).id == "c/1"
        spool.delivered(["c/1", "never heard of"])
        assert "c/1" not in spool
        assert "c/2" in spool
    with TrajectorySpool(tmp_path / "spool", 10) as spool:
        spool.begin("run")
        assert ids(spool) == ["c/2"]


def test_runs_are_kept_apart(tmp_path: Path) -> None:
    with TrajectorySpool(tmp_path, 10) as spool:
        spool.begin("one")
        spool.put(trajectory("c/1"))
        spool.begin("two")
        assert (len(spool), spool.elsewhere(), ids(spool)) == (0, 1, [])
        assert spool.put(trajectory("c/1"))  # the same id, of another run
        spool.delivered(["c/1"])
        spool.begin("one")
        assert ids(spool) == ["c/1"]


def test_who_puts_waits_while_too_many_are_not_acknowledged(tmp_path: Path) -> None:
    with TrajectorySpool(tmp_path, 2) as spool:
        spool.begin("run")
        spool.put(trajectory("c/1"))
        through = threading.Event()

        def put() -> None:
            spool.put(trajectory("c/2"))
            through.set()

        threading.Thread(target=put, daemon=True).start()
        while len(spool) < 2:  # it is durable before it waits
            spool.batch(0.01)
        assert ids(spool) == ["c/1", "c/2"]
        assert not through.wait(0.1)
        spool.delivered(["c/1"])
        assert through.wait(LONG)
        third = threading.Thread(target=lambda: spool.put(trajectory("c/3")), daemon=True)
        third.start()
        while len(spool) < 2:
            spool.batch(0.01)
        spool.release()  # the session has ended
        third.join(LONG)
        assert not third.is_alive()
        assert ids(spool) == ["c/2", "c/3"]


def test_a_batch_is_bounded_in_number_and_in_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TrajectorySpool(tmp_path, 1000) as spool:
        spool.begin("run")
        for number in range(MAX_DELIVERIES + 5):
            spool.put(trajectory(f"c/{number}"))
        assert len(spool.batch(0.0)) == MAX_DELIVERIES
        size = len(spool.batch(0.0)[0].data)
        monkeypatch.setattr(trajectory_spool, "BATCH_BYTES", 3 * size)
        assert len(spool.batch(0.0)) == 3
        monkeypatch.setattr(trajectory_spool, "BATCH_BYTES", 1)
        assert len(spool.batch(0.0)) == 1  # a large one goes alone


def test_what_the_learner_never_takes_is_set_aside(tmp_path: Path) -> None:
    with TrajectorySpool(tmp_path, 10) as spool:
        spool.begin("run")
        spool.put(trajectory("c/1"))
        spool.put(trajectory("c/2"))
        spool.set_aside(spool.batch(0.0)[0], "no trajectory")
        assert (ids(spool), spool.unusable) == (["c/2"], 1)
        rows = spool._database.execute("SELECT id, reason FROM unusable").fetchall()
        assert rows == [("c/1", "no trajectory")]


def test_it_has_one_user_at_a_time(tmp_path: Path) -> None:
    with TrajectorySpool(tmp_path, 10), pytest.raises(DirectoryInUse):
        TrajectorySpool(tmp_path, 10).__enter__()
