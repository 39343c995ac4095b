"""Durable first, then the learner, then the acknowledgement; each id once."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.engine.ingest.full_disk import full_disk
from tests.engine.made_up_reports import finished
from tests.replay.made_up_trajectories import trajectory

from distrl.engine.ingest.delivery import ArrivalQueue, TrajectoryReceiver
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.messages import Received, Refused
from distrl.errors import CorruptRecord
from distrl.json_lines import LineLog, read_lines
from distrl.replay.store.trajectory_database import NAME
from distrl.replay.store.trajectory_reader import BEGINNING, StoredTrajectory, TrajectoryReader
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.replay.trajectory_encoding import MAGIC, PREFIX, VERSION, encode_trajectory
from distrl.runs.run_records import EpisodeLine

LONG = 60.0  # seconds that no test takes
A_MOMENT = 0.1  # in which one that must not go on is given the chance to


class Hall:
    """A receiver with what is around it; answers are kept with what was stored by then."""

    def __init__(self, folder: Path, store: TrajectoryStore, max_waiting: int = 100) -> None:
        self.lines = folder / "episodes.jsonl"
        self.episode_log = EpisodeLog(LineLog.open(self.lines), lambda: 50.0)
        self.arrivals = ArrivalQueue()
        self.receiver = TrajectoryReceiver(store, self.arrivals, self.episode_log, max_waiting)
        self.answers: list[Received | Refused] = []
        self._folder = folder

    def send(self, *names: str) -> None:
        def reply(answer: Received | Refused) -> None:
            stored = [s.trajectory.id for s in TrajectoryReader(self._folder / "store").read()]
            assert isinstance(answer, Refused) or answer.id in stored
            self.answers.append(answer)

        encoded = [encode_trajectory(trajectory(name, tokens=2)) for name in names]
        if len(encoded) == 1:
            self.receiver.deliver(encoded[0], reply)
        else:
            self.receiver.deliver_many([(each, reply) for each in encoded])


def test_what_is_acknowledged_is_stored_and_on_its_way_to_the_learner(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path / "store") as store:
        hall = Hall(tmp_path, store)
        hall.send("c/1")
        hall.send("c/2")
        hall.send("c/1")
        assert hall.answers == [
            Received("c/1", True), Received("c/2", True), Received("c/1", False)
        ]  # fmt: skip
        assert [hall.arrivals.popleft().id for _ in range(2)] == ["c/1", "c/2"]
        assert not len(hall.arrivals)
        assert hall.arrivals.taken == store.position
        assert hall.episode_log.trajectories == 2


def test_no_more_is_stored_than_the_run_wants(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path / "store") as store:
        hall = Hall(tmp_path, store)
        hall.receiver.limit = 3
        answers: list[Received | Refused] = []
        names = [f"c/{number}" for number in range(5)]
        encoded = [encode_trajectory(trajectory(name, tokens=2)) for name in names]
        hall.receiver.deliver_many([(each, answers.append) for each in encoded])
        hall.receiver.deliver(encode_trajectory(trajectory("c/9", tokens=2)), answers.append)
        assert not hall.receiver.put(trajectory("c/10", tokens=2))
        assert (store.ids, len(hall.arrivals)) == (("c/0", "c/1", "c/2"), 3)
        told = {(each.id, each.new, each.kept) for each in answers if isinstance(each, Received)}
        assert told == {
            *((name, True, True) for name in names[:3]),
            *((name, False, False) for name in (*names[3:], "c/9")),
        }
        assert hall.receiver.room == 0


def test_a_disk_that_takes_nothing_is_answered_and_costs_nothing(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path / "store") as store:
        hall = Hall(tmp_path, store)
        hall.send("c/1")
        with full_disk():
            hall.send("c/2")
        [_, refused] = hall.answers
        assert isinstance(refused, Refused)
        assert len(hall.arrivals) == 1
        assert hall.episode_log.trajectories == 1
        assert hall.episode_log.all_faults() == {"not_stored": 1}
        hall.send("c/2")
        assert hall.answers[-1] == Received("c/2", True)


def test_deliveries_of_one_call_are_stored_and_acknowledged_together(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path / "store") as store:
        hall = Hall(tmp_path, store)
        hall.send("c/1", "d/1", "c/1", "e/1")
        assert hall.answers == [
            Received("c/1", True), Received("d/1", True), Received("c/1", False),
            Received("e/1", True),
        ]  # fmt: skip
        for position, name in enumerate(("c/1", "d/1", "e/1"), 1):
            assert hall.arrivals.popleft().id == name
            assert hall.arrivals.taken == position
        with full_disk():
            hall.send("c/2", "d/2")
        assert [type(answer) for answer in hall.answers[4:]] == [Refused, Refused]
        assert hall.episode_log.all_faults() == {"not_stored": 2}
        hall.send("d/2", "c/2")
        assert store.ids == ("c/1", "d/1", "e/1", "d/2", "c/2")


def test_the_bytes_of_the_collector_are_what_is_stored(tmp_path: Path) -> None:
    """It is not encoded again: a header with other white space stays as it is."""
    encoded = encode_trajectory(trajectory("c/1", tokens=2))
    _, _, length = PREFIX.unpack_from(encoded)
    header, rest = encoded[PREFIX.size : PREFIX.size + length], encoded[PREFIX.size + length :]
    spaced = PREFIX.pack(MAGIC, VERSION, length + 2) + header + b"  " + rest
    with TrajectoryStore(tmp_path / "store") as store:
        hall = Hall(tmp_path, store)
        hall.receiver.deliver(spaced, hall.answers.append)
        assert hall.arrivals.popleft().id == "c/1"
    with contextlib.closing(sqlite3.connect(tmp_path / "store" / NAME)) as database:
        assert database.execute("SELECT body FROM bodies").fetchall() == [(spaced,)]


def test_bytes_that_are_no_trajectory_are_refused_by_an_error(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path / "store") as store:
        hall = Hall(tmp_path, store)
        with pytest.raises(CorruptRecord):
            hall.receiver.deliver(b"nonsense", hall.answers.append)
        assert (hall.answers, len(store), len(hall.arrivals)) == ([], 0, 0)
        hall.send("c/1")
        assert hall.answers == [Received("c/1", True)]


def test_threads_that_deliver_while_another_one_stores_share_its_wait(tmp_path: Path) -> None:
    """The first holds the disk up until all others have come; then there is one more commit."""
    waiting, commits = threading.Barrier(9), []

    class SlowStore(TrajectoryStore):
        def append_encoded(self, trajectories: Sequence[tuple[str, bytes]]) -> list[int | None]:
            commits.append(len(trajectories))
            if len(commits) == 1:
                waiting.wait(30)
                while len(hall.receiver._inbox) < 8:
                    threading.Event().wait(0.001)
            return super().append_encoded(trajectories)

    with SlowStore(tmp_path / "store") as store:
        hall = Hall(tmp_path, store)
        first = threading.Thread(target=hall.send, args=["first"])
        first.start()

        def send(number: int) -> None:
            waiting.wait(30)
            hall.send(f"c/{number}")

        others = [threading.Thread(target=send, args=[number]) for number in range(8)]
        for thread in others:
            thread.start()
        for thread in (first, *others):
            thread.join(30)
        assert commits == [1, 8]
        assert len(hall.answers) == len(store) == 9


def test_acknowledgements_wait_when_the_learner_is_far_behind(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path / "store") as store:
        hall = Hall(tmp_path, store, max_waiting=2)
        for number in range(4):
            hall.send(f"c/{number}")
        assert [answer.id for answer in hall.answers] == ["c/0"]
        hall.arrivals.popleft()
        hall.receiver.release()
        assert len(hall.answers) == 1
        hall.arrivals.popleft()
        hall.arrivals.popleft()
        hall.receiver.release()
        assert len(hall.answers) == 4
        hall.send("c/9")
        hall.send("c/10")
        hall.receiver.release(all_of_them=True)
        assert len(hall.answers) == 6


def test_a_line_is_written_once_its_collector_has_told_or_died(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path / "store") as store:
        hall = Hall(tmp_path, store)
        hall.episode_log.version = 3
        for name in ("one.1/1", "one.1/2", "one.10/1"):
            hall.send(name)
        assert read_lines(hall.lines, EpisodeLine) == []
        hall.episode_log.finished(finished("one.1/1"))
        hall.episode_log.finished(finished("one.1/1"))  # told twice
        hall.episode_log.finished(finished("nobody/1"))
        [line] = read_lines(hall.lines, EpisodeLine)
        assert (line.id, line.device, line.staleness) == ("one.1/1", "phone-0", 3)
        hall.episode_log.close("one.1/")
        assert [line.id for line in read_lines(hall.lines, EpisodeLine)] == ["one.1/1", "one.1/2"]
        hall.episode_log.close()
        assert len(read_lines(hall.lines, EpisodeLine)) == 3
        assert hall.episode_log.of_late().lag == 3.0


def test_a_line_that_the_disk_does_not_take_is_written_with_the_next(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path / "store") as store:
        hall = Hall(tmp_path, store)
        for name in ("one.1/1", "one.1/2", "one.1/3"):
            hall.send(name)
        with full_disk():
            hall.episode_log.finished(finished("one.1/1"))
        assert read_lines(hall.lines, EpisodeLine) == []
        hall.episode_log.finished(finished("one.1/2"))
        assert [line.id for line in read_lines(hall.lines, EpisodeLine)] == ["one.1/1", "one.1/2"]
        assert hall.episode_log.all_faults() == {"not_stored": 1}


# The queue --------------------------------------------------------------------------------------


def stored(position: int) -> StoredTrajectory:
    return StoredTrajectory(trajectory(f"c/{position}"), position)


@pytest.fixture
def beside() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as threads:
        yield threads


def test_they_come_in_their_order_and_the_last_one_taken_is_known() -> None:
    arrivals = ArrivalQueue()
    assert (len(arrivals), arrivals.taken) == (0, BEGINNING)
    for position in (3, 4, 9):
        arrivals.put(stored(position))
    assert (len(arrivals), arrivals.taken) == (3, BEGINNING)  # what waits is not taken
    for left, position in ((2, 3), (1, 4), (0, 9)):
        assert arrivals.popleft().id == f"c/{position}"
        assert (len(arrivals), arrivals.taken) == (left, position)


def test_a_resumed_run_goes_on_from_where_it_was() -> None:
    arrivals = ArrivalQueue(taken=7)
    assert arrivals.taken == 7
    with pytest.raises(IndexError):
        arrivals.popleft()
    assert arrivals.taken == 7


def test_a_wait_ends_when_one_arrives(beside: ThreadPoolExecutor) -> None:
    arrivals = ArrivalQueue()

    def take() -> str:
        arrivals.wait(LONG)
        return arrivals.popleft().id

    taken = beside.submit(take)
    with pytest.raises(TimeoutError):
        taken.result(A_MOMENT)
    arrivals.put(stored(1))
    assert taken.result(LONG / 2) == "c/1"


def test_a_wait_ends_at_once_where_one_is_there(beside: ThreadPoolExecutor) -> None:
    arrivals = ArrivalQueue()
    arrivals.put(stored(1))
    beside.submit(arrivals.wait, LONG).result(LONG / 2)
    assert len(arrivals) == 1  # it takes nothing


def test_a_rest_is_not_ended_by_arrivals(beside: ThreadPoolExecutor) -> None:
    arrivals = ArrivalQueue()
    arrivals.put(stored(1))
    rest = beside.submit(arrivals.rest, LONG)
    arrivals.put(stored(2))
    with pytest.raises(TimeoutError):
        rest.result(A_MOMENT)
    arrivals.wake()
    rest.result(LONG / 2)


@pytest.mark.parametrize("kind", ["wait", "rest"])
def test_a_wake_that_comes_too_early_is_not_lost_and_counts_once(
    beside: ThreadPoolExecutor, kind: str
) -> None:
    arrivals = ArrivalQueue()
    pause = arrivals.wait if kind == "wait" else arrivals.rest
    arrivals.wake()
    beside.submit(pause, LONG).result(LONG / 2)
    second = beside.submit(pause, LONG)
    with pytest.raises(TimeoutError):
        second.result(A_MOMENT)
    arrivals.wake()
    second.result(LONG / 2)


def test_waits_end_by_themselves() -> None:
    arrivals = ArrivalQueue()
    arrivals.wait(0.0)
    arrivals.rest(0.0)
    assert len(arrivals) == 0


def test_nothing_is_lost_between_two_threads(beside: ThreadPoolExecutor) -> None:
    arrivals, count = ArrivalQueue(), 500
    same = trajectory("c/1")

    def take_all() -> list[int]:
        positions: list[int] = []
        while len(positions) < count:
            arrivals.wait(LONG)
            while len(arrivals):
                arrivals.popleft()
                positions.append(arrivals.taken)
        return positions

    taken = beside.submit(take_all)
    for position in range(1, count + 1):
        arrivals.put(StoredTrajectory(same, position))
    assert taken.result(LONG / 2) == list(range(1, count + 1))
