"""Metrics and status of a run, each when due; the time left by the pace of training alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine.made_up_reports import report
from tests.replay.made_up_trajectories import trajectory

from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.run.collection import Collection
from distrl.engine.run.run_monitor import SAMPLE_SECONDS, SHOW_SECONDS, Countdown, RunMonitor
from distrl.episodes.collector_report import CollectorReport
from distrl.json_lines import LineLog, read_lines
from distrl.learning.learner_report import LearnerStatus
from distrl.records import Ending
from distrl.runs.metrics import Metrics, read_points
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import DeviceFault, EpisodeLine
from distrl.runs.run_status import RunStatus


def seen(*looks: tuple[float, float, bool]) -> Countdown:
    countdown = Countdown()
    for now, progress, training in looks:
        countdown.see(now, progress, training=training)
    return countdown


def test_an_evaluation_before_training_does_not_count() -> None:
    # 100 s of evaluation, then 1 % in 5 s: 99 % take 495 s, not 105 s · 99.
    countdown = seen(
        (0.0, 0.0, False), (100.0, 0.0, False), (100.0, 0.0, True), (105.0, 0.01, True)
    )
    assert countdown.seconds_left(0.01) == pytest.approx(495.0)


def test_an_evaluation_in_between_does_not_count() -> None:
    looks = [(0.0, 0.0, True), (10.0, 0.1, True), (10.0, 0.1, False), (99.0, 0.1, False)]
    countdown = seen(*looks, (99.0, 0.1, True), (109.0, 0.2, True))
    assert countdown.seconds_left(0.2) == pytest.approx(80.0)


def test_a_resumed_run_goes_by_its_own_pace() -> None:
    # It comes back at 60 %, and makes 10 % in 30 s.
    assert seen((0.0, 0.6, True), (30.0, 0.7, True)).seconds_left(0.7) == pytest.approx(90.0)


def test_nothing_is_said_too_early_or_at_the_end() -> None:
    assert Countdown().seconds_left(0.5) is None
    assert seen((0.0, 0.0, True), (1.0, 0.5, True)).seconds_left(0.5) is None
    assert seen((0.0, 0.0, True), (50.0, 0.001, True)).seconds_left(0.001) is None
    assert seen((0.0, 0.0, True), (50.0, 1.0, True)).seconds_left(1.0) is None


class Shown:
    """A view that keeps what it was shown."""

    def __init__(self) -> None:
        self.all: list[RunStatus] = []
        self.said: list[str] = []

    def show(self, status: RunStatus) -> None:
        self.all.append(status)

    def say(self, sentence: str) -> None:
        self.said.append(sentence)

    def __enter__(self) -> Shown:
        return self

    def __exit__(self, *_: object) -> None: ...


class TwoCollectors(Collection):
    """Reports of collectors that never played; their phones decide half of the time."""

    def __init__(self) -> None:
        self.there = 0.0

    def reports(self) -> list[CollectorReport]:
        return [report(decisions=3), report(decisions=4)]

    def phone_seconds(self) -> dict[str, float]:
        return {"decide": self.there / 2, "admission": self.there / 2}


def test_points_and_the_view_come_when_they_are_due(tmp_path: Path) -> None:
    now, view, collection, run = 0.0, Shown(), TwoCollectors(), RunDirectory(tmp_path)
    status = LearnerStatus(7, 3, 0.0, 0.0, {}, {"trajectories": 11.0})
    with (
        Metrics.begin(run, clock=lambda: now) as metrics,
        LineLog.open(run.episodes) as lines,
    ):
        log = EpisodeLog(lines, lambda: now)
        usage = {"machine/gpu_gigabytes": 31.0, "machine/gpu_memory_share": 0.25}
        monitor = RunMonitor(
            "small", 4, metrics, view, log, collection, clock=lambda: now, usage=lambda: usage
        )
        monitor.begin("training", status, 0.0)
        steps = 2 * int(SAMPLE_SECONDS / SHOW_SECONDS)
        for _ in range(2 * steps):  # twice as often as the view is due
            collection.there += SHOW_SECONDS
            with monitor.learner_at("waiting"):
                now += SHOW_SECONDS / 2
                monitor.look(status, now / 100.0, queue=5)
    assert len(view.all) == 1 + steps
    points = read_points(run.metrics)
    assert [point.seconds for point in points] == [0.0, SAMPLE_SECONDS, 2 * SAMPLE_SECONDS]
    assert points[-1].figures["decisions"] == 7.0
    assert points[-1].figures["learner_seconds/waiting"] == 2 * SAMPLE_SECONDS
    last = view.all[-1]
    assert (last.updates, last.weight_version, last.replay, last.queue) == (7, 3, 11, 5)
    assert last.seconds_left == pytest.approx(100.0 - now)
    assert (last.gpu_gigabytes, last.gpu_memory_share) == (31.0, 0.25)
    assert last.phone_time == {"deciding": 0.5, "admission": 0.5}
    assert last.learner_time == {"waiting": 1.0, "other": 0.0}


class TroubledPhones(Collection):
    """One collector, whose failed starts, troubles and notice a test sets."""

    def __init__(self) -> None:
        self.failed = self.given_up = 0
        self.troubles: dict[str, str] = {}
        self.notice = ""

    def reports(self) -> list[CollectorReport]:
        failed, made = {"DeviceLocked": self.failed}, report()
        batcher = replace(made.batcher, notice=self.notice)
        troubles = dict(self.troubles)
        return [
            replace(
                made, failed_starts=failed, given_up=self.given_up, troubles=troubles,
                batcher=batcher,
            )
        ]  # fmt: skip


def test_a_phone_that_cannot_be_reset_is_counted_and_named_with_the_reason(tmp_path: Path) -> None:
    now, view, phones, run = 0.0, Shown(), TroubledPhones(), RunDirectory(tmp_path)
    status = LearnerStatus(0, 0, 0.0, 0.0, {}, {})
    with Metrics.begin(run, clock=lambda: now) as metrics, LineLog.open(run.episodes) as lines:
        log = EpisodeLog(lines, lambda: now)
        noted: list[DeviceFault] = []
        monitor = RunMonitor(
            "small", 4, metrics, view, log, phones, lambda: now, note_fault=noted.append
        )

        def look() -> int:
            nonlocal now
            now += SHOW_SECONDS
            monitor.look(status, 0.0, 0)
            return view.all[-1].faults.get("failed_start", 0)

        assert (look(), view.said) == (0, [])
        phones.failed, phones.troubles = 2, {"phone-1": "DeviceLocked: device R5: it is locked"}
        assert look() == 2
        phones.failed = 3  # the same again: counted, not repeated
        assert look() == 3
        assert view.said == ["phone-1 failed: DeviceLocked: device R5: it is locked"]
        phones.troubles = {"phone-1": "DeviceDisconnected: device R5: not found"}
        look()
        assert view.said[1:] == ["phone-1 failed: DeviceDisconnected: device R5: not found"]
        phones.troubles = {}  # it plays again,
        look()
        phones.troubles = {"phone-1": "DeviceDisconnected: device R5: not found"}
        look()
        assert len(view.said) == 3  # and is lost again
        phones.notice = "the policy is slow"
        look()
        look()
        assert view.said[3:] == ["the policy is slow"]  # once
        phones.given_up = 2  # tasks that no attempt brought to a verdict
        look()
        look()
        assert view.all[-1].faults["task_given_up"] == 2
    assert [each.reason.partition(":")[0] for each in noted] == [
        "DeviceLocked", "DeviceDisconnected", "DeviceDisconnected"
    ]  # fmt: skip


def test_warm_up_waiting_and_a_resume_are_said(tmp_path: Path) -> None:
    view, run, now = Shown(), RunDirectory(tmp_path), 0.0
    with Metrics.begin(run, clock=lambda: now) as metrics, LineLog.open(run.episodes) as lines:
        log = EpisodeLog(lines, lambda: now)
        monitor = RunMonitor(
            "small", 4, metrics, view, log, Collection(), lambda: now,
            warm_up_updates=3, resumed_at=2,
        )  # fmt: skip
        monitor.begin("training", LearnerStatus(2, 0, 0.0, 0.0, {}, {}), 0.0)
        now += SHOW_SECONDS
        with monitor.learner_at("waiting"):
            monitor.look(LearnerStatus(2, 0, 0.0, 0.0, {}, {}), 0.0, 0)
        now += SHOW_SECONDS
        monitor.look(LearnerStatus(3, 1, 0.0, 0.0, {}, {}), 0.0, 0)
    assert [each.detail for each in view.all] == [
        "the critic warms up: update 2 of 3, resumed at update 2",
        "the learner waits for trajectories, resumed at update 2",
        "resumed at update 2",
    ]


def test_a_new_phase_is_shown_at_once(tmp_path: Path) -> None:
    view, run, status = Shown(), RunDirectory(tmp_path), LearnerStatus(0, 0, 0.0, 0.0, {}, {})
    with Metrics.begin(run, clock=lambda: 1.0) as metrics, LineLog.open(run.episodes) as lines:
        log = EpisodeLog(lines, lambda: 1.0)
        monitor = RunMonitor("small", 4, metrics, view, log, Collection(), clock=lambda: 1.0)
        monitor.begin("evaluating before training", status, 0.0)
        monitor.look(status, 0.0, 0)
        monitor.begin("training", status, 0.0)
    assert [each.phase for each in view.all] == ["evaluating before training", "training"]


def test_a_policy_that_unlearns_is_said_to_and_not_again_after_a_resume(tmp_path: Path) -> None:
    view, run = Shown(), RunDirectory(tmp_path)
    status = LearnerStatus(7, 3, 0.0, 0.0, {}, {})
    endings = [Ending.SUCCESS] * 60 + [Ending.STEP_LIMIT] * 60
    with Metrics.begin(run) as metrics, LineLog.open(run.episodes) as lines:
        log = EpisodeLog(lines, lambda: 0.0)
        monitor = RunMonitor("small", 4, metrics, view, log, TwoCollectors())
        for n, ending in enumerate(endings):
            log.arrived(trajectory(str(n), ending=ending))
        for _ in range(2):
            monitor.begin("training", status, 0.0)
        log.close()
        again = EpisodeLog(lines, lambda: 0.0)
        again.recall(read_lines(run.episodes, EpisodeLine))
        RunMonitor("small", 4, metrics, view, again, TwoCollectors()).begin("training", status, 0.0)
    assert again.has_fallen
    [sentence] = view.said
    assert sentence.startswith("success fell from 100% (weights 0) to ")
