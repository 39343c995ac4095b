"""A new verdict on what is stored: durable, found and read from then on, and new to a reader."""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.replay.made_up_trajectories import trajectory

from distrl.errors import CorruptRecord
from distrl.records import Ending, Trajectory, Verdict
from distrl.replay.buffer.replay_buffer import ReplayBuffer
from distrl.replay.store.trajectory_database import (
    NAME,
    Correction,
    decode_correction,
    encode_correction,
)
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.replay.store.trajectory_store import (
    LEAST_BYTES,
    TrajectoryStore,
    TrajectoryStoreSettings,
)

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
        assert [s.position for s in store.read(2)] == [4]  # the last correction alone
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
        assert (len(store), store.position) == (0, 0)


def test_a_dropped_trajectory_has_no_correction_any_more(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path) as store:
        store.append(trajectory("a"))
    with TrajectoryStore(tmp_path) as store:
        store.correct("a", FAILED)
    assert read(tmp_path) == {"a": Ending.FAILURE}
    small = TrajectoryStoreSettings(byte_limit=LEAST_BYTES)
    with TrajectoryStore(tmp_path, small) as store:
        for number in range(30):
            store.append(replace(trajectory(f"more-{number}"), notes=("x" * 11_000,)))
        assert store.find("a") is None
        assert "a" in store
        assert not store.correct("a", DONE)
    assert "a" not in read(tmp_path)


def test_a_damaged_correction_costs_itself_alone(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path) as store:
        store.append(trajectory("a"))
        store.correct("a", FAILED)
    with closing(sqlite3.connect(tmp_path / NAME)) as database:
        database.execute("UPDATE trajectories SET correction = substr(correction, 1, 20)")
        database.commit()
    with TrajectoryStore(tmp_path) as store:
        found = store.find("a")
        assert found is not None
        assert found.ending is Ending.SUCCESS
        [damage] = store.damages
        assert "no correction" in str(damage)


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
        b"\xff",
        b'["device_lost", true, "", ""]',
        b'["success", 1, "", ""]',
        b'["success", true, ""]',
        b'["success", true, "", "", 1.0]',
        b'["success", true, "", "", "1", [], []]',
        b'["failure", false, "", "", 0.5, [1], []]',
        b'{"ending": "success"}',
    ],
)
@pytest.mark.parametrize("sealed", [True, False])
def test_bytes_that_are_no_correction_are_refused(body: bytes, sealed: bool) -> None:
    seal = zlib.crc32(body) if sealed else zlib.crc32(body) ^ 1
    with pytest.raises(CorruptRecord):
        decode_correction(seal.to_bytes(4, "little") + body)


def test_it_comes_back_as_it_was() -> None:
    assert decode_correction(encode_correction(FAILED)) == FAILED
    facts = replace(FAILED.verdict, progress=0.5, missing=("a note",), collateral=("an alarm",))
    half_done = Correction(Ending.FAILURE, facts)
    assert decode_correction(encode_correction(half_done)) == half_done
    before_facts = b'["failure", false, "not there", "vlm/other/1"]'
    seal = zlib.crc32(before_facts).to_bytes(4, "little")
    assert decode_correction(seal + before_facts).verdict.progress is None
    with pytest.raises(ValueError, match="device_lost"):
        Correction(Ending.DEVICE_LOST, FAILED.verdict)


def test_a_copy_has_the_same_verdicts_also_when_copying_was_interrupted(tmp_path: Path) -> None:
    source, copy = tmp_path / "source", tmp_path / "copy"
    with TrajectoryStore(source) as store:
        store.append_all([trajectory("a"), trajectory("b"), trajectory("c")])
        store.correct("a", FAILED)
    with TrajectoryStore(copy) as store:
        store.take_rows(TrajectoryReader(source).rows(0, nbytes=1))
        assert store.position == 1  # not 4, where the verdict on it was changed
    with TrajectoryStore(copy) as store:
        while (copied := TrajectoryReader(source).rows(store.position, nbytes=1)).rows:
            store.take_rows(copied)
        assert store.position == 4
    assert read(copy) == read(source)


def test_a_copy_drops_what_its_source_dropped(tmp_path: Path) -> None:
    source, copy = tmp_path / "source", tmp_path / "copy"
    small = TrajectoryStoreSettings(byte_limit=LEAST_BYTES, wait_for_disk=False)
    with TrajectoryStore(source, small) as store, TrajectoryStore(copy) as copied:
        for number in range(40):
            store.append(replace(trajectory(str(number)), notes=("x" * 11_000,)))
            copied.take_rows(TrajectoryReader(source).rows(copied.position, nbytes=2**20))
        assert copied.ids == store.ids
        assert "0" in copied  # its id stays taken
    assert 0 < len(read(source)) < 40
    assert read(copy) == read(source)
