"""A damaged segment gives back what is whole and reports the rest: no crash, no wrong record."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.replay.any_trajectory import what_it_is
from tests.replay.made_up_trajectories import trajectory

from distrl.errors import CorruptRecord
from distrl.records import Trajectory
from distrl.replay.store.segment import (
    HEAD,
    HEAD_SEAL,
    PREAMBLE,
    TRAJECTORY,
    Damage,
    Record,
    Segment,
    preamble,
    seal,
)
from distrl.replay.store.segment_folder import SegmentFolder
from distrl.replay.store.segment_writer import SegmentWriter
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.replay.store.trajectory_store import TrajectoryStore, TrajectoryStoreSettings
from distrl.replay.trajectory_encoding import encode_trajectory

NAMES = ("a", "b", "c")
QUICK = TrajectoryStoreSettings(wait_for_disk=False)


def three() -> tuple[bytes, list[int], dict[str, Trajectory]]:
    """A segment of three small trajectories, where its records begin and end, and what they are."""
    originals = {name: trajectory(name, screens=(n,)) for n, name in enumerate(NAMES)}
    data, borders = preamble(), [PREAMBLE.size]
    for name, each in originals.items():
        data += seal(TRAJECTORY, name, encode_trajectory(each), 1, len(data))
        borders.append(len(data))
    return data, borders, originals


def flips(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Every byte changed, one at a time."""
    rng = random.Random("flips/0")
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= rng.randrange(1, 256)
        yield place, bytes(changed)


def place_segment(folder: Path, data: bytes, number: int = 1) -> Path:
    path = SegmentFolder(folder).path(number)
    path.unlink(missing_ok=True)  # quicker than to empty it and write again
    path.write_bytes(data)
    return path


def test_every_truncation_keeps_what_stands_before_it(tmp_path: Path) -> None:
    data, borders, originals = three()
    wanted = {name: what_it_is(each) for name, each in originals.items()}
    for length in range(len(data) + 1):
        path = place_segment(tmp_path, data[:length])
        whole = [name for name, end in zip(NAMES, borders[1:], strict=True) if end <= length]
        reader = TrajectoryReader(tmp_path)
        read = {stored.trajectory.id: stored.trajectory for stored in reader.read()}
        assert list(read) == whole
        assert all(what_it_is(read[name]) == wanted[name] for name in whole)
        assert reader.damages == ()  # for all that a reader knows, the rest is on its way
        with TrajectoryStore(tmp_path, QUICK) as store:
            assert list(store.ids) == whole
            kept = max(end for end in [0, *borders] if end <= length)
            # A preamble that was not finished is written anew.
            assert path.stat().st_size == store.nbytes == max(kept, PREAMBLE.size)
            assert [(d.offset, d.end) for d in store.damages] == (
                [(kept, length)] if length > kept else []
            )


def test_every_changed_byte_costs_one_record_at_most_and_is_reported(tmp_path: Path) -> None:
    data, borders, originals = three()
    wanted = {name: what_it_is(each) for name, each in originals.items()}
    for place, changed in flips(data):
        place_segment(tmp_path, changed)
        hurt = next((n for n, end in enumerate(borders[1:]) if place < end and place >= 16), None)
        whole = [name for number, name in enumerate(NAMES) if number != hurt]
        reader = TrajectoryReader(tmp_path)
        read = {stored.trajectory.id: stored.trajectory for stored in reader.read()}
        assert list(read) == whole
        assert all(what_it_is(read[name]) == wanted[name] for name in whole)
        with TrajectoryStore(tmp_path, QUICK) as store:
            assert list(store.ids) == whole
            [damage] = store.damages
            assert damage.offset <= place < damage.end
            for name in whole:
                found = store.find(name)
                assert found is not None
                assert what_it_is(found) == wanted[name]


def test_changed_bytes_of_an_older_segment_show_when_it_is_read(tmp_path: Path) -> None:
    data, borders, _ = three()
    broken = bytearray(data)
    broken[borders[2] - 1] ^= 1  # in the body of "b"
    place_segment(tmp_path, bytes(broken))
    place_segment(tmp_path, preamble(), 2)
    with TrajectoryStore(tmp_path) as store:
        assert store.ids == NAMES
        assert list(store.damages) == []
        assert store.find("b") is None
        assert [stored.trajectory.id for stored in store.read()] == ["a", "c"]
        [damage] = store.damages
        assert str(damage) == f"segment 1, bytes {borders[1]} to {borders[2]}: a damaged record"
        assert not store.append(trajectory("b"))


def test_an_older_segment_that_was_cut_short_loses_its_last_record_only(tmp_path: Path) -> None:
    data, borders, _ = three()
    place_segment(tmp_path, data[:-1])
    place_segment(tmp_path, preamble(), 2)
    with TrajectoryStore(tmp_path) as store:
        assert store.ids == ("a", "b")
        assert [(d.offset, d.end) for d in store.damages] == [(borders[2], len(data) - 1)]
        assert store.append(trajectory("c", screens=(2,)))
        assert [stored.trajectory.id for stored in store.read()] == list(NAMES)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """The three after some accidents: bytes lost, changed, doubled, or put in between."""
    data = bytearray(three()[0])
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 300)))
        piece = draw(st.sampled_from(["lost", "zeros", "doubled", "noise"]))
        data[start:end] = {
            "lost": b"",
            "zeros": bytes(end - start),
            "doubled": bytes(data[start:end]) * 2,
            "noise": draw(st.binary(max_size=20)),
        }[piece]
    return bytes(data)


@given(damaged())
def test_no_accident_makes_a_wrong_record(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = place_segment(tmp_path_factory.mktemp("store"), data)
    intact, _, originals = three()
    with Segment(path, 1) as segment:
        found = list(segment.walk())
    records = [each for each in found if isinstance(each, Record)]
    assert [r.id for r in records] == sorted({r.id for r in records})
    assert all(r.body == encode_trajectory(originals[r.id]) for r in records)
    if data != intact and data.startswith(preamble()):
        lost = sum(each.length for each in found if isinstance(each, Damage))
        read = sum(r.end - r.offset for r in records)
        assert PREAMBLE.size + lost + read == len(data)


def test_a_record_inside_a_record_is_no_record(tmp_path: Path) -> None:
    """A screen may hold any bytes, also those of a sealed record."""
    inner = seal(TRAJECTORY, "inner", b"what never was", 1, PREAMBLE.size)
    outer = seal(TRAJECTORY, "outer", inner * 3, 1, PREAMBLE.size)
    after = seal(TRAJECTORY, "after", b"", 1, PREAMBLE.size + len(outer))
    data = bytearray(preamble() + outer + after)
    data[PREAMBLE.size + 9] ^= 1  # a length in the outer head
    with Segment(place_segment(tmp_path, bytes(data)), 1) as segment:
        damage, record = segment.walk()
    assert isinstance(damage, Damage)
    assert isinstance(record, Record)
    assert (damage.length, record.id) == (len(outer), "after")


def test_a_marker_across_the_border_of_two_looks_is_found(tmp_path: Path) -> None:
    """Damage is searched through a piece at a time; here it ends around the end of a piece."""
    for length in range(2**20 - 3, 2**20 + 4):
        noise = bytes(length)
        good = seal(TRAJECTORY, "good", b"", 1, PREAMBLE.size + length)
        with Segment(place_segment(tmp_path, preamble() + noise + good), 1) as segment:
            damage, record = segment.walk()
        assert isinstance(damage, Damage)
        assert damage.length == length
        assert isinstance(record, Record)


def test_a_record_that_arrives_while_it_is_looked_for_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader finds half of "b"; before it has looked further, there are "b" and "c"."""
    data, borders, _ = three()
    path = place_segment(tmp_path, data[: borders[2] - 5])
    search = Segment._search

    def slow_search(segment: Segment, damaged: int, bodies: bool) -> int | None:
        with path.open("ab") as file:
            file.write(data[path.stat().st_size :])
        return search(segment, damaged, bodies)

    monkeypatch.setattr(Segment, "_search", slow_search)
    reader = TrajectoryReader(tmp_path)
    assert [stored.trajectory.id for stored in reader.read()] == list(NAMES)
    assert reader.damages == ()


def test_long_ids_and_empty_bodies_are_fine(tmp_path: Path) -> None:
    name = "é\ud800" * 1_000
    writer = SegmentWriter(tmp_path / "segment", 7)
    writer.create()
    [(start, end)] = writer.add([(TRAJECTORY, name, b"")])
    writer.close()
    with Segment(tmp_path / "segment", 7) as segment:
        assert list(segment.walk()) == [Record(TRAJECTORY, name, start, end, b"")]
    assert end - start == HEAD.size + HEAD_SEAL + 5_000


def test_a_segment_of_another_version_is_refused_by_name(tmp_path: Path) -> None:
    start = PREAMBLE.pack(b"DISTRLTS", 2, 0, 0)[:-4]
    place_segment(tmp_path, start + zlib.crc32(start).to_bytes(4, "little"))
    for _ in range(2):  # the directory is free again after the first refusal
        with pytest.raises(CorruptRecord, match="version 2, this reads b'DISTRLTS' and 1"):
            TrajectoryStore(tmp_path).open()
    with pytest.raises(CorruptRecord, match="version 2"):
        list(TrajectoryReader(tmp_path).read())
