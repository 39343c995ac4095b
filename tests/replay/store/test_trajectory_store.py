"""A store takes every id once, gives everything back in order, and stays within its bytes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.replay.any_trajectory import what_it_is
from tests.replay.made_up_trajectories import trajectory

from distrl.errors import CorruptRecord, InvalidSetting, UsageError
from distrl.records import Ending, Trajectory, Verdict
from distrl.replay.buffer.replay_buffer import ReplayBuffer, ReplaySettings
from distrl.replay.store.trajectory_database import NAME, Correction
from distrl.replay.store.trajectory_reader import (
    AT_ONCE,
    BEGINNING,
    Position,
    TrajectoryReader,
)
from distrl.replay.store.trajectory_store import (
    LEAST_BYTES,
    TrajectoryStore,
    TrajectoryStoreSettings,
)
from distrl.replay.trajectory_encoding import encode_trajectory

# About ten of `long` fill the store.
SMALL = TrajectoryStoreSettings(byte_limit=LEAST_BYTES, wait_for_disk=False)


def numbered(start: int, stop: int) -> list[Trajectory]:
    return [trajectory(str(n), screens=(n, n + 1)) for n in range(start, stop)]


def names(store: TrajectoryStore | TrajectoryReader, after: Position = BEGINNING) -> list[str]:
    return [stored.trajectory.id for stored in store.read(after)]


def long(start: int, stop: int) -> list[Trajectory]:
    """About 12 kB each."""
    return [replace(each, notes=("x" * 11_000,)) for each in numbered(start, stop)]


def size_of(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.iterdir() if path.suffix != ".sqlite-shm")


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
        assert store.damages == ()


def test_bytes_are_stored_as_they_came(tmp_path: Path) -> None:
    """What a collector has encoded is not encoded again."""
    encoded = encode_trajectory(trajectory("a"))
    with TrajectoryStore(tmp_path) as store:
        assert store.append_encoded([("a", encoded), ("a", encoded)]) == [1, None]
        assert store.append_encoded([("b", encode_trajectory(trajectory("b")))]) == [2]
    with closing(sqlite3.connect(tmp_path / NAME)) as database:
        [[body]] = database.execute("SELECT body FROM bodies WHERE seq = 1").fetchall()
        assert body == encoded


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
        assert names(reader, positions[-1]) == []
    with TrajectoryStore(tmp_path, SMALL) as store:
        store.append(trajectory("after a restart"))
        for number, position in enumerate(positions):
            wanted = [str(n) for n in range(number, 12)] + ["after a restart"]
            assert names(TrajectoryReader(tmp_path), position) == wanted
    assert positions == sorted(positions)


def test_a_batch_on_its_way_is_not_seen_until_it_is_committed(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path) as store:
        store.append(trajectory("a"))
        with store._transaction("look in between") as database:
            database.execute("INSERT INTO trajectories (seq, id) VALUES (2, x'62')")
            database.execute("INSERT INTO bodies VALUES (2, 0, x'')")
            database.execute("UPDATE bodies SET body = x'00'")
            reader = TrajectoryReader(tmp_path)
            assert names(reader) == ["a"]
            assert reader.damages == ()
            database.execute("ROLLBACK")
            database.execute("BEGIN")
        assert names(store) == ["a"]


def test_more_than_a_reader_looks_up_at_once(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path) as store:
        store.append_all(numbered(0, 2 * AT_ONCE + 1))
        assert names(store) == [str(n) for n in range(2 * AT_ONCE + 1)]


def test_the_byte_limit_holds_and_dropped_ids_stay_taken(tmp_path: Path) -> None:
    given = long(0, 100)
    with TrajectoryStore(tmp_path, SMALL) as store:
        for number, each in enumerate(given):
            assert store.append(each)
            assert store.nbytes <= SMALL.database_bytes
            assert size_of(tmp_path) <= SMALL.byte_limit + 2**16  # the log has one batch more
            assert store.ids[-1] == str(number)
        left = store.ids
        assert 8 < len(left) <= 16
        assert left == tuple(str(n) for n in range(100 - len(left), 100))
        assert store.append_all(given) == [False] * 100
        assert store.find("0") is None
        assert "0" in store
        position = store.position
    assert (tmp_path / NAME).stat().st_size <= SMALL.database_bytes
    with TrajectoryStore(tmp_path, SMALL) as store:
        assert store.ids == left
        assert store.append_all(given) == [False] * 100
        assert all(str(n) in store for n in range(100))  # dropped ones are remembered
        assert store.position == position
        assert names(store) == list(left)


def test_a_reader_goes_on_when_the_store_drops_what_it_was_reading(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path, SMALL) as store:
        store.append_all(long(0, 2))
        reading = TrajectoryReader(tmp_path).read()
        behind = next(reading)
        for each in long(2, 60):
            store.append(each)
        assert [stored.trajectory.id for stored in reading] == list(store.ids)
        assert names(TrajectoryReader(tmp_path), behind.position) == list(store.ids)


def test_positions_are_never_used_again(tmp_path: Path) -> None:
    """Those of before must lie before all that comes, also when nothing of it is left."""
    done = Correction(Ending.SUCCESS, Verdict(True, "", "judge"))
    with TrajectoryStore(tmp_path, SMALL) as store:
        store.append_all(long(0, 3))
        assert store.correct("2", done)
        position = store.position
        store.append_all(long(3, 60))
        assert store.find("2") is None
        assert store.position == position + 57
    with TrajectoryStore(tmp_path, SMALL) as store:
        end = store.position
        assert end == position + 57
        assert store.append(trajectory("new"))
        assert names(store, end) == ["new"]


def test_what_is_too_large_is_refused_and_nothing_happens(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path, SMALL) as store:
        store.append(trajectory("a"))
        huge = replace(trajectory("b"), notes=("x" * LEAST_BYTES,))
        with pytest.raises(InvalidSetting, match=r"trajectory b of .*byte_limit=262144"):
            store.append_all([trajectory("c"), huge])
        with pytest.raises(UsageError, match="an id of 70000 bytes"):
            store.append(trajectory("é" * 35_000))
        assert store.ids == ("a",)
        assert store.append_all(numbered(0, 20)) == [True] * 20
        assert store.ids[0] == "a"


def test_odd_ids_are_fine(tmp_path: Path) -> None:
    name = "é\ud800" * 1_000
    with TrajectoryStore(tmp_path) as store:
        assert store.append_all([trajectory(name), trajectory("")]) == [True, True]
        assert not store.append(trajectory(name))
        assert store.ids == (name, "")
        assert names(store) == [name, ""]


def test_limits_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InvalidSetting, match="byte_limit=0"):
        TrajectoryStoreSettings(byte_limit=0)


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


def test_runs_of_before_are_refused_with_the_commit_to_use(tmp_path: Path) -> None:
    (tmp_path / "segment-000000001.records").write_bytes(b"DISTRLTS")
    for _ in range(2):  # the directory is free again after the first refusal
        with pytest.raises(CorruptRecord, match=r"before it moved to SQLite.* at commit 6795fae"):
            TrajectoryStore(tmp_path).open()
    with pytest.raises(CorruptRecord, match="at commit 6795fae"):
        list(TrajectoryReader(tmp_path).read())
    assert not (tmp_path / NAME).exists()


def test_a_store_of_another_version_is_refused_by_name(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path) as store:
        store.append(trajectory("a"))
    with closing(sqlite3.connect(tmp_path / NAME)) as database:
        database.execute("PRAGMA user_version = 2")
    for _ in range(2):
        with pytest.raises(CorruptRecord, match="is of version 2, this reads version 1"):
            TrajectoryStore(tmp_path).open()
    with pytest.raises(CorruptRecord, match="version 2"):
        list(TrajectoryReader(tmp_path).read())


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
