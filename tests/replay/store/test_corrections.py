"""A new verdict on what is stored: durable, found and read from then on, and new to a reader."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.replay.made_up_trajectories import trajectory

from distrl.errors import CorruptRecord
from distrl.records import Ending, Trajectory, Verdict
from distrl.replay.buffer.replay_buffer import ReplayBuffer
from distrl.replay.store.correction import (
    Correction,
    PlacedCorrection,
    decode_correction,
    encode_correction,
)
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.replay.store.trajectory_store import TrajectoryStore, TrajectoryStoreSettings

FAILED = Correction(Ending.FAILURE, Verdict(False, "not there — “é”", "vlm/other/1"))
DONE = Correction(Ending.SUCCESS, Verdict(True, "", "vlm/other/2"))


def read(directory: Path) -> dict[str, Ending]:
    stored = [each.trajectory for each in TrajectoryReader(directory).read()]
    assert len({each.id for each in stored}) == len(stored)
    return {each.id: each.ending for each in stored}


def test_whoever_finds_or_reads_it_gets_the_last_verdict_also_after_a_restart(
    tmp_path: Path,
) -> None:
    with TrajectoryStore(tmp_path) as store:
        store.append_all([trajectory("a"), trajectory("b")])
        assert store.correct("a", DONE)
        assert store.correct("a", FAILED)
        found = store.find("a")
        assert found is not None
        assert (found.ending, found.verdict) == (FAILED.ending, FAILED.verdict)
    with TrajectoryStore(tmp_path) as store:
        assert store.ids == ("a", "b")
        found = store.find("a")
        assert found is not None
        assert found.verdict == FAILED.verdict
        assert store.gauges()["corrected"] == 1
        assert not store.append(trajectory("a"))  # its id is as taken as before
    assert read(tmp_path) == {"a": Ending.FAILURE, "b": Ending.SUCCESS}


def test_a_reader_that_was_past_it_gets_it_again_once(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path) as store:
        store.append_all([trajectory("a", ending=Ending.JUDGE_UNAVAILABLE), trajectory("b")])
        position = store.position
        store.correct("a", FAILED)
        store.append(trajectory("c"))
        store.correct("a", DONE)
        store.correct("c", FAILED)
        later = list(store.read(after=position))
        assert [(each.trajectory.id, each.trajectory.ending) for each in later] == [
            ("c", Ending.FAILURE),
            ("a", Ending.SUCCESS),
        ]
        assert not list(store.read(after=store.position))
        assert len(later[1].trajectory.screens) == 2


def test_a_correction_that_is_written_while_somebody_reads_is_not_lost(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path) as store:
        store.append_all([trajectory("a"), trajectory("b")])
        store.correct("a", DONE)
        reading = TrajectoryReader(tmp_path).read()
        assert next(reading).trajectory.ending is Ending.SUCCESS
        store.correct("a", FAILED)
        store.append(trajectory("c"))
        rest = [(each.trajectory.id, each.trajectory.ending) for each in reading]
    assert rest == [("b", Ending.SUCCESS), ("a", Ending.FAILURE), ("c", Ending.SUCCESS)]


def test_what_is_not_here_cannot_be_corrected(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path) as store:
        assert not store.correct("nobody", DONE)
        assert store.nbytes == 0


def test_a_segment_of_corrections_alone_stays_and_one_without_its_trajectory_is_harmless(
    tmp_path: Path,
) -> None:
    with TrajectoryStore(tmp_path) as store:
        store.append(trajectory("a"))
    with TrajectoryStore(tmp_path) as store:  # goes on in a new segment
        store.correct("a", FAILED)
    assert read(tmp_path) == {"a": Ending.FAILURE}
    small = TrajectoryStoreSettings(byte_limit=8 * 1024)
    with TrajectoryStore(tmp_path, small) as store:
        for number in range(20):
            store.append(trajectory(f"more-{number}"))
        assert store.find("a") is None
        assert "a" in store
        assert not store.correct("a", DONE)
    assert "a" not in read(tmp_path)


def test_a_torn_correction_costs_itself_alone(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path) as store:
        store.append(trajectory("a"))
        store.correct("a", FAILED)
        end = store.position
    [segment] = [path for path in tmp_path.iterdir() if path.stat().st_size == end.offset]
    segment.write_bytes(segment.read_bytes()[:-3])
    with TrajectoryStore(tmp_path) as store:
        found = store.find("a")
        assert found is not None
        assert found.ending is Ending.SUCCESS
        assert len(store.damages) == 1


def test_a_replay_that_is_restored_has_the_new_verdict(tmp_path: Path) -> None:
    replay = ReplayBuffer()
    with TrajectoryStore(tmp_path) as store:
        for name in ("a", "b"):
            store.append(trajectory(name))
            replay.insert(trajectory(name))
        store.correct("b", FAILED)
        restored = ReplayBuffer()
        assert restored.load_state(replay.state_dict(), store.find) == ()
    kept: dict[str, Trajectory] = {
        entry.trajectory.id: entry.trajectory for entry in restored.next_slice(2)
    }
    assert [kept[name].ending for name in "ab"] == [Ending.SUCCESS, Ending.FAILURE]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b'{"segment":1,"offset":2,"ending":"device_lost","success":true,"reason":"","judge":""}',
        b'{"segment":1,"offset":2,"ending":"success","success":1,"reason":"","judge":""}',
    ],
)
def test_bytes_that_are_no_correction_are_refused(body: bytes) -> None:
    with pytest.raises(CorruptRecord):
        decode_correction(body)


def test_it_comes_back_as_it_was() -> None:
    placed = PlacedCorrection(FAILED, 3, 4711)
    assert decode_correction(encode_correction(placed)) == placed
    with pytest.raises(ValueError, match="device_lost"):
        Correction(Ending.DEVICE_LOST, FAILED.verdict)
