"""A damaged database gives back what is whole and reports the rest: no crash, nothing wrong."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.replay.any_trajectory import what_it_is
from tests.replay.made_up_trajectories import trajectory
from tests.replay.store.storing_processes import sent

from distrl.errors import CorruptRecord
from distrl.records import Trajectory
from distrl.replay.store.trajectory_database import NAME, PAGE_BYTES
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.replay.store.trajectory_store import TrajectoryStore, TrajectoryStoreSettings
from distrl.replay.trajectory_encoding import encode_trajectory

ROOT = Path(__file__).parents[3]
QUICK = TrajectoryStoreSettings(wait_for_disk=False)
COUNT = 12


def filled(directory: Path) -> dict[str, Trajectory]:
    """A store of some, small and large; returns what is in it."""
    given = {each.id: each for each in map(sent, range(COUNT))}
    with TrajectoryStore(directory, QUICK) as store:
        store.append_all(given.values())
    return given


def places_of(data: bytes, body: bytes) -> list[int]:
    """Where pieces of a body lie in the file that nothing else has."""
    pieces = (body[at : at + 64] for at in range(0, len(body) - 64, 100))
    return [data.index(piece) for piece in pieces if data.count(piece) == 1]


def flip(path: Path, place: int) -> None:
    with path.open("r+b") as file:
        file.seek(place)
        [byte] = file.read(1)
        file.seek(place)
        file.write(bytes([byte ^ random.Random(f"flip/{place}").randrange(1, 256)]))


def read(directory: Path) -> tuple[dict[str, Trajectory], TrajectoryReader]:
    reader = TrajectoryReader(directory)
    return {each.trajectory.id: each.trajectory for each in reader.read()}, reader


def test_a_flipped_byte_in_a_body_costs_one_trajectory_and_is_listed(tmp_path: Path) -> None:
    given = filled(tmp_path / "whole")
    data = (tmp_path / "whole" / NAME).read_bytes()
    tried = 0
    for number, (name, one) in enumerate(given.items()):
        for place in places_of(data, encode_trajectory(one))[:3]:
            hurt = tmp_path / f"{name}-{place}"
            shutil.copytree(tmp_path / "whole", hurt)
            flip(hurt / NAME, place)
            with TrajectoryStore(hurt, QUICK) as store:
                assert len(store) == COUNT
                assert store.find(name) is None
                stored = {each.trajectory.id: each.trajectory for each in store.read()}
                assert list(stored) == [each for each in given if each != name]
                [damage] = store.damages
                assert damage.seq == number + 1
                assert str(damage).startswith(f"trajectory number {number + 1}: its checksum")
                assert not store.append(one)  # it was counted when it came in
                assert store.append(trajectory("new"))
            tried += 1
    assert tried > COUNT


def flips(directory: Path, size: int) -> Iterator[tuple[int, Path]]:
    rng = random.Random("flips/0")
    heads = [page + offset for page in range(0, size, PAGE_BYTES) for offset in range(0, 16, 3)]
    places = rng.sample(range(size), 150) + rng.sample(heads, 80) + list(range(100))
    for place in places:
        hurt = directory / "hurt"
        shutil.rmtree(hurt, ignore_errors=True)
        shutil.copytree(directory / "whole", hurt)
        flip(hurt / NAME, place)
        yield place, hurt


def test_no_flipped_byte_makes_a_wrong_trajectory_or_an_error_without_a_type(
    tmp_path: Path,
) -> None:
    """Wherever it is: in headers, tree pages, indexes or content."""
    given = {name: what_it_is(each) for name, each in filled(tmp_path / "whole").items()}
    refused = listed = 0
    for place, hurt in flips(tmp_path, (tmp_path / "whole" / NAME).stat().st_size):
        try:
            stored, reader = read(hurt)
        except CorruptRecord:
            refused += 1
            continue
        listed += bool(reader.damages)
        for name, each in stored.items():
            assert what_it_is(each) == given[name], place
    assert refused > 10
    assert listed > 10


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_truncated_file_is_refused_clearly(tmp_path: Path, share: float) -> None:
    filled(tmp_path)
    truncate(tmp_path / NAME, share)
    for _ in range(2):  # the directory is free again after the first refusal
        with pytest.raises(CorruptRecord, match=r"malformed; the file is damaged: .*\.recover"):
            TrajectoryStore(tmp_path).open()
    with pytest.raises(CorruptRecord, match="malformed"):
        read(tmp_path)


def test_a_last_page_that_was_cut_costs_its_trajectory(tmp_path: Path) -> None:
    given = filled(tmp_path)
    truncate(tmp_path / NAME, 0.999)
    stored, reader = read(tmp_path)
    assert list(stored) == list(given)[:-1]
    assert [damage.seq for damage in reader.damages] == [COUNT]


def truncate(path: Path, share: float) -> None:
    with path.open("r+b") as file:
        file.truncate(int(share * path.stat().st_size))


@pytest.mark.parametrize("content", [b"not a database at all" * 1000, b"\x00" * 20_000])
def test_what_is_no_database_is_refused_clearly(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    for _ in range(2):  # the directory is free again after the first refusal
        with pytest.raises(CorruptRecord, match="file is not a database; the file is damaged"):
            TrajectoryStore(tmp_path).open()
    with pytest.raises(CorruptRecord, match="not a database"):
        read(tmp_path)


def test_an_empty_file_is_a_store_that_was_killed_at_birth(tmp_path: Path) -> None:
    (tmp_path / NAME).touch()
    assert read(tmp_path)[0] == {}
    with TrajectoryStore(tmp_path) as store:
        assert store.append(trajectory("a"))


def test_bytes_that_are_no_trajectory_are_listed(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path) as store:
        store.append_encoded([("a", b"nonsense")])
        assert store.find("a") is None
        store.append(trajectory("b"))
        assert [each.trajectory.id for each in store.read()] == ["b"]
        [damage] = store.damages
        assert "no trajectory" in damage.reason or "begins with" in damage.reason


LEAVE_LOG = """
import os, signal, sys
from pathlib import Path
from tests.replay.store.storing_processes import sent
from distrl.replay.store.trajectory_store import TrajectoryStore

store = TrajectoryStore(Path(sys.argv[1])).open()
for number in range(6):
    store.append(sent(number))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def left_behind(tmp_path: Path) -> Path:
    """A store whose writer was killed: everything is still in its log."""
    words = [sys.executable, "-c", LEAVE_LOG, str(tmp_path)]
    assert subprocess.run(words, check=False, cwd=ROOT).returncode == -signal.SIGKILL
    assert (tmp_path / f"{NAME}-wal").stat().st_size > 100_000
    return tmp_path


def test_a_log_that_a_kill_left_behind_is_read_and_taken_over(left_behind: Path) -> None:
    wanted = [f"t{number}" for number in range(6)]
    assert list(read(left_behind)[0]) == wanted  # a reader needs no writer for it
    with TrajectoryStore(left_behind) as store:
        assert list(store.ids) == wanted
        assert store.append(trajectory("new"))
    assert not (left_behind / f"{NAME}-wal").exists()
    assert list(read(left_behind)[0]) == [*wanted, "new"]


@pytest.mark.parametrize("torn", [1, 24, 4000, 100_000])
def test_a_torn_end_of_the_log_is_passed_over(left_behind: Path, torn: int) -> None:
    """What a power cut leaves of a batch that was never acknowledged."""
    with (left_behind / f"{NAME}-wal").open("ab") as file:
        file.write(random.Random(torn).randbytes(torn))
    with TrajectoryStore(left_behind) as store:
        assert list(store.ids) == [f"t{number}" for number in range(6)]
        assert store.append(sent(6))
        assert store.damages == ()
    assert len(read(left_behind)[0]) == 7


def test_a_log_that_was_cut_keeps_whole_batches_before_the_cut(left_behind: Path) -> None:
    given = {name: what_it_is(each) for name, each in read(left_behind)[0].items()}
    log = left_behind / f"{NAME}-wal"
    with log.open("r+b") as file:
        file.truncate(log.stat().st_size * 2 // 3)
    with TrajectoryStore(left_behind) as store:
        kept = [each.trajectory for each in store.read()]
        assert [each.id for each in kept] == list(given)[: len(kept)]
        assert 0 < len(kept) < 6
        assert all(what_it_is(each) == given[each.id] for each in kept)
        assert store.append_all(map(sent, range(6))).count(True) == 6 - len(kept)
