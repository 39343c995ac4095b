"""A store takes every id once, gives everything back in order, and stays within its bytes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.replay.any_trajectory import what_it_is
from tests.replay.made_up_trajectories import trajectory

from distrl.errors import InvalidSetting, UsageError
from distrl.records import Trajectory
from distrl.replay.buffer.replay_buffer import ReplayBuffer, ReplaySettings
from distrl.replay.store.segment import TRAJECTORY, preamble, seal
from distrl.replay.store.segment_folder import SegmentFolder
from distrl.replay.store.trajectory_reader import BEGINNING, Position, TrajectoryReader
from distrl.replay.store.trajectory_store import TrajectoryStore, TrajectoryStoreSettings

# Five records of the made-up kind (about 1.2 kB each) fill a segment, eight segments the store.
SMALL = TrajectoryStoreSettings(byte_limit=8 * 6_000, wait_for_disk=False)


def numbered(start: int, stop: int) -> list[Trajectory]:
    return [trajectory(str(n), screens=(n, n + 1)) for n in range(start, stop)]


def names(store: TrajectoryStore | TrajectoryReader, after: Position = BEGINNING) -> list[str]:
    return [stored.trajectory.id for stored in store.read(after)]


def size_of(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.glob("segment-*"))


def test_what_goes_in_comes_out_as_it_was_and_in_order(tmp_path: Path) -> None:
    given = numbered(0, 9)
    with TrajectoryStore(tmp_path / "deep" / "down") as store:
        assert store.append(given[0])
        assert store.append_all(given[1:]) == [True] * 8
        read = [stored.trajectory for stored in store.read()]
        assert [what_it_is(each) for each in read] == [what_it_is(each) for each in given]
        for each in given:
            found = store.find(each.id)
            assert found is not None
            assert what_it_is(found) == what_it_is(each)
        assert store.find("9") is None
        assert (len(store), store.ids) == (9, tuple("012345678"))
        assert store.nbytes == size_of(store.directory)
        assert store.append_all([]) == []


def test_an_id_is_taken_once_also_after_a_restart(tmp_path: Path) -> None:
    first, other = trajectory("a"), replace(trajectory("a"), notes=("another one",))
    with TrajectoryStore(tmp_path) as store:
        assert store.append(first)
        assert not store.append(other)
        batch = [trajectory("b"), first, trajectory("b"), trajectory("c")]
        assert store.append_all(batch) == [True, False, False, True]
    with TrajectoryStore(tmp_path) as store:
        assert store.append_all([first, trajectory("d"), *batch]) == [False, True, *[False] * 4]
        assert names(store) == list(store.ids) == ["a", "b", "c", "d"]
        found = store.find("a")
        assert found is not None
        assert found.notes == ()
        assert store.gauges()["resent"] == 5.0
        assert store.damages == ()


def test_reading_goes_on_where_it_stopped_in_any_process(tmp_path: Path) -> None:
    reader = TrajectoryReader(tmp_path)
    assert names(reader) == []
    with TrajectoryStore(tmp_path, SMALL) as store:
        positions = [BEGINNING]
        for number, each in enumerate(numbered(0, 12)):
            store.append(each)
            [stored] = reader.read(positions[-1])
            assert (stored.trajectory.id, stored.position) == (str(number), store.position)
            positions.append(stored.position)
        assert store.gauges()["segments"] > 2.0
        assert names(reader, positions[-1]) == []
    with TrajectoryStore(tmp_path, SMALL) as store:
        store.append(trajectory("after a restart"))
        for number, position in enumerate(positions):
            wanted = [str(n) for n in range(number, 12)] + ["after a restart"]
            assert names(TrajectoryReader(tmp_path), position) == wanted
    assert positions == sorted(positions)


def test_a_record_on_its_way_is_not_seen_until_it_is_whole(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path) as store:
        store.append_all(numbered(0, 3))
        path = SegmentFolder(tmp_path).path(1)
        data, [_, second, third] = path.read_bytes(), list(store.read())
        reader = TrajectoryReader(tmp_path)
        path.write_bytes(data[: third.position.offset - 1])
        assert names(reader) == ["0", "1"]
        path.write_bytes(data)
        assert names(reader, second.position) == ["2"]
        assert reader.damages == ()


def test_the_byte_limit_holds_and_dropped_ids_stay_taken(tmp_path: Path) -> None:
    given = numbered(0, 100)
    with TrajectoryStore(tmp_path, SMALL) as store:
        for number, each in enumerate(given):
            assert store.append(each)
            assert store.nbytes == size_of(tmp_path) <= SMALL.byte_limit
            assert store.ids[-1] == str(number)
        left = store.ids
        assert 30 < len(left) <= 40
        assert left == tuple(str(n) for n in range(100 - len(left), 100))
        assert store.append_all(given) == [False] * 100
        assert store.find("0") is None
        assert "0" in store
        position = store.position
    with TrajectoryStore(tmp_path, SMALL) as store:
        assert store.ids == left
        assert store.append_all(given) == [False] * 100
        assert store.gauges()["dropped"] == 100 - len(left)
        assert store.position == position
        assert names(store) == list(left)


def test_a_reader_goes_on_when_the_store_lets_go_of_what_it_was_reading(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path, SMALL) as store:
        store.append_all(numbered(0, 2))
        reading = TrajectoryReader(tmp_path).read()
        behind = next(reading)
        for each in numbered(2, 60):
            store.append(each)
        assert not SegmentFolder(tmp_path).path(1).exists()
        # The segment that it has open stays readable to its end.
        assert [stored.trajectory.id for stored in reading] == ["1", "2", "3", "4"]
        assert names(TrajectoryReader(tmp_path), behind.position) == list(store.ids)


def test_segment_numbers_are_never_used_again(tmp_path: Path) -> None:
    """Positions of before must lie before whatever comes, even when nothing is left."""
    with TrajectoryStore(tmp_path, SMALL) as store:
        for each in numbered(0, 60):
            store.append(each)
        position = store.position
        newest = max(SegmentFolder(tmp_path).numbers())
        for number in SegmentFolder(tmp_path).numbers():
            store._retire_active()
            store._drop(number)
        assert (len(store), store.nbytes) == (0, 0)
    with TrajectoryStore(tmp_path, SMALL) as store:
        assert store.append(trajectory("new"))
        assert SegmentFolder(tmp_path).numbers() == [newest + 1]
        assert names(store, position) == ["new"]


def test_killed_between_remembering_and_dropping(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path, SMALL) as store:
        store.append_all(numbered(0, 3))
        kept = SegmentFolder(tmp_path).path(1).read_bytes()
        store._retire_active()
        store._drop(1)
    SegmentFolder(tmp_path).path(1).write_bytes(kept)
    with TrajectoryStore(tmp_path, SMALL) as store:
        assert SegmentFolder(tmp_path).numbers() == []
        assert store.append_all(numbered(0, 4)) == [False, False, False, True]
        assert names(store) == list(store.ids) == ["3"]


def test_what_is_too_large_is_refused_and_nothing_happens(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path, SMALL) as store:
        store.append(trajectory("a"))
        with pytest.raises(InvalidSetting, match=r"90 trajectories of .*byte_limit=48000"):
            store.append_all(numbered(0, 90))
        with pytest.raises(UsageError, match="an id of 70000 bytes"):
            store.append(trajectory("é" * 35_000))
        assert store.append_all(numbered(0, 20)) == [True] * 20
        assert store.nbytes <= SMALL.byte_limit
        assert store.ids[0] == "a"


def test_limits_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InvalidSetting, match="byte_limit=0"):
        TrajectoryStoreSettings(byte_limit=0)
    with pytest.raises(InvalidSetting, match="segment_bytes=1"):
        TrajectoryStoreSettings(segment_bytes=1)


def test_a_store_that_is_not_open_takes_nothing(tmp_path: Path) -> None:
    store = TrajectoryStore(tmp_path)
    with pytest.raises(UsageError, match="not open"):
        store.append(trajectory("a"))
    with store:
        store.append(trajectory("a"))
    with pytest.raises(UsageError, match="not open"):
        store.append(trajectory("b"))
    store.close()
    assert store.open().ids == ("a",)
    store.close()


def test_kinds_of_records_that_are_not_known_are_passed_over(tmp_path: Path) -> None:
    """So that a later version may correct a verdict by its id."""
    correction = seal(77, "a", b"{}", 1, len(preamble()))
    SegmentFolder(tmp_path).path(1).write_bytes(preamble() + correction)
    with TrajectoryStore(tmp_path) as store:
        assert store.append(trajectory("a"))
        assert names(store) == ["a"]
        assert store.damages == ()


def test_a_sealed_record_that_is_no_trajectory_is_reported(tmp_path: Path) -> None:
    nonsense = seal(TRAJECTORY, "a", b"nonsense", 1, len(preamble()))
    SegmentFolder(tmp_path).path(1).write_bytes(preamble() + nonsense)
    with TrajectoryStore(tmp_path) as store:
        assert store.find("a") is None
        store.append(trajectory("b"))
        assert names(store) == ["b"]
        [damage] = store.damages
        assert "no trajectory" in damage.reason or "begins with" in damage.reason


def test_a_learner_gets_its_replay_back(tmp_path: Path) -> None:
    replay = ReplayBuffer(ReplaySettings(capacity=16))
    rng = np.random.default_rng(0)
    with TrajectoryStore(tmp_path) as store:
        for each in numbered(0, 30):
            store.append(each)
            replay.insert(each)
            draws = replay.sample(4, rng)
            replay.update_priorities([d.slot_id for d in draws], rng.uniform(0.0, 9.0, 4))
        position = store.position
        store.append_all(numbered(30, 33))  # acknowledged after the checkpoint
    restarted = ReplayBuffer(ReplaySettings(capacity=16))
    with TrajectoryStore(tmp_path) as store:
        assert restarted.load_state(replay.state_dict(), store.find) == ()
        assert restarted.gauges() == replay.gauges()
        for stored in store.read(position):
            restarted.insert(stored.trajectory)
    assert restarted.state_dict()["ids"] == [str(n) for n in range(17, 33)]
