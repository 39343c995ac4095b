"""Durable first, then the learner, then the acknowledgement; each id once."""

from __future__ import annotations

import resource
from pathlib import Path

from tests.engine.made_up_reports import finished
from tests.replay.made_up_trajectories import trajectory

from distrl.engine.ingest.arrival_queue import ArrivalQueue
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.messages import Received, Refused
from distrl.engine.ingest.trajectory_receiver import TrajectoryReceiver
from distrl.json_lines import LineLog, read_lines
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.replay.store.trajectory_store import TrajectoryStore, TrajectoryStoreSettings
from distrl.replay.trajectory_encoding import encode_trajectory
from distrl.runs.run_records import EpisodeLine


class Hall:
    """A reception with what is around it; answers are kept with what was stored by then."""

    def __init__(self, folder: Path, store: TrajectoryStore, max_waiting: int = 100) -> None:
        self.lines = folder / "episodes.jsonl"
        self.episode_log = EpisodeLog(LineLog.open(self.lines), lambda: 50.0)
        self.arrivals = ArrivalQueue()
        self.receiver = TrajectoryReceiver(store, self.arrivals, self.episode_log, max_waiting)
        self.answers: list[Received | Refused] = []
        self._folder = folder

    def send(self, name: str) -> None:
        def reply(answer: Received | Refused) -> None:
            stored = [s.trajectory.id for s in TrajectoryReader(self._folder / "store").read()]
            assert isinstance(answer, Refused) or answer.id in stored
            self.answers.append(answer)

        self.receiver.deliver(encode_trajectory(trajectory(name, tokens=2)), reply)


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


def test_a_disk_that_takes_nothing_is_answered_and_costs_nothing(tmp_path: Path) -> None:
    one_each = TrajectoryStoreSettings(segment_bytes=1024)  # every trajectory wants a new file
    with TrajectoryStore(tmp_path / "store", one_each) as store:
        hall = Hall(tmp_path, store)
        hall.send("c/1")
        blocked = tmp_path / "store"
        blocked.rename(tmp_path / "away")
        hall.send("c/2")
        [_, refused] = hall.answers
        assert isinstance(refused, Refused)
        assert len(hall.arrivals) == 1
        assert hall.episode_log.trajectories == 1
        assert hall.episode_log.all_faults() == {"not_stored": 1}
        (tmp_path / "away").rename(blocked)
        hall.send("c/2")
        assert hall.answers[-1] == Received("c/2", True)


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
        hall.episode_log.close_those_of("one.1")
        assert [line.id for line in read_lines(hall.lines, EpisodeLine)] == ["one.1/1", "one.1/2"]
        hall.episode_log.close_all()
        assert len(read_lines(hall.lines, EpisodeLine)) == 3
        assert hall.episode_log.mean_staleness == 3.0


def test_a_line_that_the_disk_does_not_take_is_written_with_the_next(tmp_path: Path) -> None:
    with TrajectoryStore(tmp_path / "store") as store:
        hall = Hall(tmp_path, store)
        for name in ("one.1/1", "one.1/2", "one.1/3"):
            hall.send(name)
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))  # as full as a disk can be
            hall.episode_log.finished(finished("one.1/1"))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert read_lines(hall.lines, EpisodeLine) == []
        hall.episode_log.finished(finished("one.1/2"))
        assert [line.id for line in read_lines(hall.lines, EpisodeLine)] == ["one.1/1", "one.1/2"]
        assert hall.episode_log.all_faults() == {"not_stored": 1}
