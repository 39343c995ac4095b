"""Every trajectory is counted when it arrives, and has one line once all is known of it."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.engine.ingest.full_disk import full_disk
from tests.engine.made_up_reports import finished
from tests.replay.made_up_trajectories import trajectory

from distrl.engine.ingest.episode_log import LATE_SECONDS, EpisodeLog
from distrl.episodes.outcome import SuccessRate
from distrl.json_lines import LineLog, read_lines
from distrl.records import Decision, Done, Ending, Trajectory
from distrl.runs.run_records import EpisodeLine

NOW = 50.0


@dataclass
class Desk:
    """An episode log, its file, and the clock of its run."""

    path: Path
    now: float = NOW

    def __post_init__(self) -> None:
        self.lines = LineLog.open(self.path)
        self.log = EpisodeLog(self.lines, lambda: self.now)

    def arrive(self, name: str, ending: Ending = Ending.SUCCESS) -> None:
        self.log.arrived(trajectory(name, ending=ending))

    @property
    def written(self) -> list[EpisodeLine]:
        return read_lines(self.path, EpisodeLine)

    @property
    def ids(self) -> list[str]:
        return [line.id for line in self.written]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    opened = Desk(tmp_path / "episodes.jsonl")
    with opened.lines:
        yield opened


def of_version(name: str, version: int) -> Trajectory:
    """One that was played with weights of that version."""
    decision = Decision(Done(), "done", weight_version=version)
    return dataclasses.replace(trajectory(name), decisions=(decision,))


def test_a_line_waits_for_the_report_of_its_collector(desk: Desk) -> None:
    desk.arrive("c/1")
    assert (desk.log.trajectories, desk.written) == (1, [])
    desk.log.finished(finished("c/1"))
    [line] = desk.written
    assert (line.id, line.device, line.template) == ("c/1", "phone-0", "made.up")
    assert (line.ending, line.steps) == (Ending.SUCCESS, 1)
    assert desk.log.trajectories == 1


def test_a_second_report_and_one_of_the_unknown_write_nothing(desk: Desk) -> None:
    desk.arrive("c/1")
    for name in ("c/1", "c/1", "c/2"):
        desk.log.finished(finished(name))
    desk.log.close()
    assert desk.ids == ["c/1"]


def test_times_are_those_of_the_run(desk: Desk) -> None:
    for name in ("c/1", "c/2"):
        desk.arrive(name)
    now = time.time()
    desk.log.finished(finished("c/1", began=now - 3.0, ended=now - 1.0))
    desk.log.finished(finished("c/2", began=now - NOW - 9.0, ended=now - NOW - 5.0))
    first, before_the_run = desk.written
    assert 0.0 < first.began <= NOW - 3.0
    assert first.ended - first.began == pytest.approx(2.0, abs=0.002)
    assert (before_the_run.began, before_the_run.ended) == (0.0, 0.0)


@pytest.mark.parametrize("hours", [-1, 1], ids=["behind", "ahead"])
def test_a_clock_of_another_machine_that_is_wrong_stretches_no_run(desk: Desk, hours: int) -> None:
    desk.arrive("c/1")
    theirs = time.time() + 3600.0 * hours
    desk.log.finished(finished("c/1", began=theirs - 3.0, ended=theirs - 1.0))
    [line] = desk.written
    assert 0.0 <= line.began <= line.ended <= NOW
    assert line.ended - line.began == pytest.approx(2.0 if hours > 0 else 0.0, abs=0.002)


def test_a_collector_that_died_has_its_lines_and_no_other(desk: Desk) -> None:
    for name in ("collector-1.1/1", "collector-1.10/1", "collector-1.1/2"):
        desk.arrive(name)
    desk.log.close("collector-1.1/")
    assert desk.ids == ["collector-1.1/1", "collector-1.1/2"]
    assert {(line.device, line.began, line.ended) for line in desk.written} == {("", NOW, NOW)}
    desk.log.close()
    assert desk.ids[2:] == ["collector-1.10/1"]


def test_without_its_verdict_nothing_is_written_whoever_closes(desk: Desk) -> None:
    desk.arrive("c/1", Ending.AWAITING_VERDICT)
    desk.log.finished(finished("c/1"))
    desk.arrive("c/2", Ending.AWAITING_VERDICT)
    desk.log.close()
    assert desk.written == []
    assert desk.log.endings[Ending.AWAITING_VERDICT] == desk.log.trajectories == 2
    assert desk.log.of_late().success == SuccessRate(0, 0)
    for name in ("c/2", "c/1"):
        desk.log.judged(trajectory(name, ending=Ending.FAILURE))
    assert [(line.id, line.ending, line.device) for line in desk.written] == [
        ("c/2", Ending.FAILURE, ""),
        ("c/1", Ending.FAILURE, "phone-0"),
    ]
    assert desk.log.endings[Ending.AWAITING_VERDICT] == 0
    assert desk.log.endings[Ending.FAILURE] == desk.log.trajectories == 2
    assert desk.log.of_late().success == SuccessRate(0, 2)


def test_a_verdict_on_what_never_arrived_counts_for_nothing(desk: Desk) -> None:
    desk.log.judged(trajectory("c/1"))
    desk.log.close()
    assert (desk.log.trajectories, desk.written) == (0, [])


def test_what_a_full_disk_did_not_take_is_written_with_the_next(desk: Desk) -> None:
    for number in range(3):
        desk.arrive(f"c/{number}")
    with full_disk():
        desk.log.finished(finished("c/1"))
        desk.log.finished(finished("c/0"))
    assert desk.written == []
    assert desk.log.all_faults() == {"not_stored": 2}
    desk.log.finished(finished("c/2"))
    assert desk.ids == ["c/1", "c/0", "c/2"]


def test_staleness_is_that_at_the_arrival(desk: Desk) -> None:
    desk.log.version = 5
    desk.log.arrived(of_version("c/1", 5))
    desk.log.arrived(of_version("c/2", 1))
    desk.log.version = 9
    desk.log.close()
    assert [(line.weight_version, line.staleness) for line in desk.written] == [(5, 0), (1, 4)]
    assert desk.log.of_late().lag == 2.0


def test_what_waits_for_its_verdict_is_not_in_the_lag(desk: Desk) -> None:
    desk.log.version = 5
    desk.log.arrived(of_version("c/1", 2))
    desk.arrive("c/2", Ending.AWAITING_VERDICT)
    assert desk.log.of_late().lag == 3.0


def test_of_late_forgets_and_the_counts_do_not(desk: Desk) -> None:
    desk.now = 10.0
    desk.arrive("c/1")
    desk.now += LATE_SECONDS
    for number, ending in enumerate((Ending.SUCCESS, Ending.FAILURE, Ending.DEVICE_LOST), start=2):
        desk.arrive(f"c/{number}", ending)
    assert desk.log.of_late().success == SuccessRate(2, 3)  # a lost device says nothing
    desk.now += 1.0
    assert desk.log.of_late().per_minute == pytest.approx(3 / (LATE_SECONDS / 60.0))
    desk.arrive("c/5", Ending.FAILURE)
    assert desk.log.of_late().success == SuccessRate(1, 3)
    desk.now += 10 * LATE_SECONDS  # nobody plays: the success stays that of the last who did
    late = desk.log.of_late()
    assert (late.success, late.per_minute) == (SuccessRate(1, 3), 0.0)
    assert desk.log.trajectories == 5
    assert desk.log.endings[Ending.SUCCESS] == 2


def test_faults_are_broken_endings_and_what_others_have_counted(desk: Desk) -> None:
    for number, ending in enumerate((Ending.SUCCESS, Ending.FAILURE, Ending.DEVICE_LOST)):
        desk.arrive(f"c/{number}", ending)
    desk.log.faults["collector_lost"] += 1
    assert desk.log.all_faults() == {"device_lost": 1, "collector_lost": 1}


def test_a_resumed_log_counts_what_was_and_writes_none_of_it_again(desk: Desk) -> None:
    desk.arrive("c/1")
    desk.arrive("c/2", Ending.DEVICE_LOST)
    desk.log.close()
    again = EpisodeLog(desk.lines, lambda: NOW)
    again.recall(desk.written)
    assert again.endings == desk.log.endings
    assert again.of_late() == desk.log.of_late()
    assert again.success_history() == desk.log.success_history() != ()
    again.close()
    assert desk.ids == ["c/1", "c/2"]


def test_success_of_late_is_told_by_environment_and_unknown_ones_are_not_named(
    tmp_path: Path,
) -> None:
    with LineLog.open(tmp_path / "episodes.jsonl") as lines:
        log = EpisodeLog(lines, lambda: NOW, environments=["phone", "pages", "idle"])
        played = [("a", "phone", Ending.SUCCESS), ("b", "phone", Ending.FAILURE)]
        played += [("c", "pages", Ending.SUCCESS), ("d", "a stranger's\n", Ending.SUCCESS)]
        for name, where, ending in played:
            one = dataclasses.replace(trajectory(name, ending=ending), environment=where)
            log.arrived(one)
        log.close()
        late = log.of_late()
    assert late.success == SuccessRate(3, 4)
    rates = {"phone": SuccessRate(1, 2), "pages": SuccessRate(1, 1), "idle": SuccessRate(0, 0)}
    assert late.by_environment == rates
    written = read_lines(tmp_path / "episodes.jsonl", EpisodeLine)
    assert [line.environment for line in written] == ["phone", "phone", "pages", ""]
