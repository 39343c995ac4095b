"""Broken phones: typed endings, other devices for their tasks, quarantine, spares."""

from __future__ import annotations

from tests.episodes.made_up_collectors import ListSink, Patient, collector, phone

from distrl.episodes.collector_settings import CollectorSettings
from distrl.episodes.device_pool import DevicePool, HealthSettings
from distrl.episodes.policy_batcher import PolicyBatcher
from distrl.errors import DeviceDisconnected
from distrl.records import Ending
from phonesim.faults import Faults
from phonesim.simulated_device import SimulatedDevice

GONE = Faults(schedule={1: "disconnect"})  # at the first action of every episode


def test_a_task_is_tried_again_on_another_device_and_the_fault_is_kept_as_such() -> None:
    sink = ListSink()
    collecting = collector(
        PolicyBatcher(Patient()), sink, [phone("bad", faults=GONE), phone("good")]
    )
    collecting.run(episodes=6)
    lost = [each for each in sink.all if each.ending is Ending.DEVICE_LOST]
    assert lost
    assert all(each.verdict is None for each in lost)
    by_task = {each.task.id: each for each in sink.all if each.ending.judged}
    assert len(by_task) == 6  # every task came to a verdict in the end
    assert {each.task.id for each in lost} <= set(by_task)
    last = {each.id.split("/", 2)[2]: each.device for each in collecting.drain_finished()}
    assert all(last[each.task.id] == "good" for each in lost)
    report = collecting.report()
    assert report.retried == len(lost) == report.faults["device_lost"]
    assert report.given_up == 0


def test_a_task_that_no_device_can_play_is_given_up() -> None:
    sink = ListSink()
    device_pool = DevicePool(
        [phone(f"bad-{n}", faults=GONE) for n in range(2)],
        settings=HealthSettings(quarantine_seconds=0.01),
    )
    settings = CollectorSettings(max_attempts=4)
    collecting = collector(PolicyBatcher(Patient()), sink, device_pool, settings=settings)
    collecting.run(episodes=1)
    assert [each.ending for each in sink.all] == [Ending.DEVICE_LOST] * 4
    report = collecting.report()
    assert (report.given_up, report.retried) == (1, 3)


def test_a_device_that_fails_again_and_again_is_replaced_by_a_spare() -> None:
    sink = ListSink()
    device_pool = DevicePool(
        [phone("bad", faults=GONE), phone("good")],
        [phone("spare")],
        HealthSettings(quarantine_after=2, quarantine_seconds=60.0),
    )
    collecting = collector(PolicyBatcher(Patient()), sink, device_pool)
    collecting.run(episodes=12)
    report = collecting.report()
    assert report.endings["device_lost"] == 2
    assert report.quarantined == ("bad",)
    assert report.quarantines == 1
    assert report.busy["spare"] > 0.0
    assert {each.device for each in collecting.drain_finished()} == {"bad", "good", "spare"}


class Unbootable(SimulatedDevice):
    """A phone that does not come up the first few times."""

    def __init__(self, name: str, failures: int) -> None:
        super().__init__(name)
        self._left = failures

    def reset(self, seed: int) -> None:
        if self._left:
            self._left -= 1
            raise DeviceDisconnected(f"device {self.name}: it does not come up")
        super().reset(seed)


def test_a_device_that_does_not_come_up_makes_no_episode_and_goes_into_quarantine() -> None:
    sink = ListSink()
    health = HealthSettings(quarantine_after=1, quarantine_seconds=0.02)
    device: SimulatedDevice = Unbootable("phone-0", failures=2)
    device_pool = DevicePool([device], settings=health)
    collecting = collector(PolicyBatcher(Patient()), sink, device_pool)
    collecting.run(episodes=3)
    assert len(sink.all) == 3
    report = collecting.report()
    assert report.failed_starts == {"DeviceDisconnected": 2}
    assert report.quarantines == 2
    assert report.started == 5
    assert report.stages["device"] > 0.0


def test_with_random_faults_every_task_comes_to_its_end_and_no_id_comes_twice() -> None:
    faults = Faults(
        freeze=0.1, disconnect=0.1, black_screen=0.05, app_crash=0.05, step_deadline=1.0
    )
    sink = ListSink()
    device_pool = DevicePool(
        [phone(f"phone-{n}", faults=faults) for n in range(5)],
        settings=HealthSettings(quarantine_seconds=0.05),
    )
    collecting = collector(PolicyBatcher(Patient(waits=4)), sink, device_pool)
    collecting.run(episodes=30)
    report = collecting.report()
    judged = [each for each in sink.all if each.ending.judged]
    assert len(sink.sent) == len(set(sink.sent)) == report.trajectories == report.started
    assert len(judged) + report.given_up == 30
    assert report.faults
    assert len(judged) < len(sink.sent)
