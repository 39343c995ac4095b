"""Phones of joined collectors in the learner's files: refusals and faults, named and bounded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks.cheap_joined import build_cheap, join_cheaply
from benchmarks.listening_learner import ListeningLearner, listening_learner
from tests.engine.join.test_join_listener import Member
from tests.engine.made_up_reports import finished, report
from tests.engine.run.test_run_monitor import Shown
from tests.episodes.made_up_collectors import wait_until

from distrl.devices.safety.refusals import MAX_REFUSALS, Refusal, RefusalBatch, append_refusals
from distrl.engine.ingest.messages import Heartbeat
from distrl.engine.join.join_messages import JoinHeartbeat, pack
from distrl.engine.join.trajectory_spool import TrajectorySpool
from distrl.engine.run.collection import AsynchronousCollection
from distrl.engine.run.run_monitor import RunMonitor
from distrl.episodes.collector import Collector
from distrl.errors import DeviceTimeout
from distrl.json_lines import LineLog, read_lines
from distrl.learning.learner_report import LearnerStatus
from distrl.reporting.report import report_page
from distrl.reporting.run_story import read_story
from distrl.runs.metrics import Metrics
from distrl.runs.run_directory import RunDirectory

LONG = 120.0
STATUS = LearnerStatus(0, 0, 0.0, 0.0, {}, {})


@pytest.fixture
def learner(tmp_path: Path) -> Iterator[ListeningLearner]:
    with listening_learner(tmp_path / "learner") as opened:
        yield opened


def heartbeat(*refusals: Refusal, cut: int = 0, name: str = "") -> Heartbeat:
    return Heartbeat(report(name=name), (), "{}", RefusalBatch(refusals, cut))


def refusals_of(learner: ListeningLearner) -> list[Refusal]:
    return read_lines(RunDirectory(learner.folder).refusals, Refusal)


def test_what_a_joined_phone_refused_is_in_the_learners_file_and_harmless_on_its_page(
    learner: ListeningLearner,
) -> None:
    member = Member(learner)
    paid = Refusal(1000.0, "phone-0", "Tap(x=0.5)", "<script>alert('Pay')</script>\x1b[2J")
    for _ in range(2):  # its first answer was lost
        member.post("heartbeat", pack(JoinHeartbeat(1, heartbeat(paid)))).raise_for_status()
    last = heartbeat(replace(paid, time=1001.0), cut=3)
    member.post("leave", pack(JoinHeartbeat(0, last))).raise_for_status()
    assert [each.time for each in refusals_of(learner)] == [1000.0, 1001.0]
    assert {each.device for each in refusals_of(learner)} == {"attic-1024/phone-0"}
    assert learner.registry.episode_log.faults["refusals_cut"] == 3
    page = report_page(read_story(RunDirectory(learner.folder)))
    assert "&lt;script&gt;alert(&#39;Pay&#39;)&lt;/script&gt;?[2J" in page
    assert "<script>alert" not in page


def test_more_refusals_than_a_heartbeat_may_have_are_refused(learner: ListeningLearner) -> None:
    member = Member(learner)
    many = tuple(Refusal(float(n), "phone-0", "Tap", "Pay") for n in range(MAX_REFUSALS + 1))
    answer = member.post("heartbeat", pack(JoinHeartbeat(1, heartbeat(*many))))
    assert answer.status_code == 400
    assert learner.refusals == {"malformed": 1}
    assert not RunDirectory(learner.folder).refusals.exists()


def test_a_joined_collector_sends_what_its_guard_refused(
    learner: ListeningLearner, tmp_path: Path
) -> None:
    def build(config: Any, *parts: Any) -> Collector[Any]:
        record = Path(config.devices.android.safety.record)
        append_refusals(record, Refusal(1.0, "phone-1", "Enter()", "Enter may send"))
        return build_cheap(config, *parts)

    with ExitStack() as opened:
        spool = TrajectorySpool(tmp_path / "spool", 8)
        joined = join_cheaply(learner.client(), spool, opened, build=build)
        wait_until(lambda: refusals_of(learner))
        learner.registry.stop(20.0)
        assert joined.ended.wait(LONG)
        joined.thread.raise_failure()
    [one] = refusals_of(learner)
    assert one.device.endswith("-1024/phone-1")
    assert (one.action, one.why) == ("Enter()", "Enter may send")


def look(learner: ListeningLearner) -> None:
    """As a run does every now and then."""
    run, registry, arrivals = RunDirectory(learner.folder), learner.registry, learner.arrivals
    nobody: Any = None  # the collection is not started
    collection = AsynchronousCollection(registry, nobody, learner.service.receiver, arrivals)
    with Metrics.begin(run) as metrics, LineLog.open(run.device_faults) as faults:
        RunMonitor(
            "run", 0, metrics, Shown(), registry.episode_log, collection, note_fault=faults.append
        ).look(STATUS, 0.0, 0)


def test_phones_of_one_name_on_two_machines_are_told_apart_when_they_fail(
    learner: ListeningLearner,
) -> None:
    first, second = Member(learner), Member(learner, "1" * 32)
    for member, why in ((first, "DeviceTimeout: hangs"), (second, "DeviceTimeout: hangs\x1b[2J")):
        broken = replace(report(), troubles={"phone-0": why})
        told = Heartbeat(broken, (finished(f"{member.welcome.name}/1"),), "{}")
        member.post("heartbeat", pack(JoinHeartbeat(1, told))).raise_for_status()
    look(learner)
    story = read_story(RunDirectory(learner.folder))
    assert {(each.device, each.reason) for each in story.device_faults} == {
        ("attic-1024/phone-0", "DeviceTimeout: hangs"),
        ("attic-1025/phone-0", "DeviceTimeout: hangs?[2J"),
    }


def test_a_phone_that_ends_its_joined_collector_is_named(
    learner: ListeningLearner, tmp_path: Path
) -> None:
    def build(*parts: Any) -> Collector[Any]:
        collector = build_cheap(*parts)

        def hangs(_: int | None = None) -> None:
            error = DeviceTimeout("no screen for 300 s")
            collector._metrics.failed_start("phone-1", error)
            raise error

        collector.run = hangs  # type: ignore[method-assign, assignment]
        return collector

    with ExitStack() as opened:
        spool = TrajectorySpool(tmp_path / "spool", 8)
        joined = join_cheaply(learner.client(), spool, opened, build=build)
        assert joined.ended.wait(LONG)
        with pytest.raises(DeviceTimeout):
            joined.thread.raise_failure()
    assert not learner.registry.collectors()  # it has left, with its last words
    look(learner)
    [failed] = read_story(RunDirectory(learner.folder)).failed_devices()
    assert failed.name.endswith("-1024/phone-1")
    assert failed.reason == "DeviceTimeout: no screen for 300 s"
