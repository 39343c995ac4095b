"""A collector whose phones are behind a real adb server: a cable is pulled, a spare takes over."""

from __future__ import annotations

from collections.abc import Sequence

from tests.devices.adb.served_phones import ServedPhones, served_phones
from tests.episodes.made_up_collectors import POOL, ListSink, Patient

from distrl.devices.adb.simulated_adb_device import SimulatedAdbDevice
from distrl.episodes.collector import Collector
from distrl.episodes.device_pool import DevicePool, HealthSettings
from distrl.episodes.policy_batcher import PolicyBatcher
from distrl.records import Decision, Done, Ending, Observation, Tap
from distrl.task_sets.curriculum import UniformTasks
from phonesim.tasks.fact_judge import FactJudge

FOR_EVER = HealthSettings(quarantine_after=1, quarantine_seconds=1e6, max_quarantine_seconds=1e9)


class PullsTheCable(Patient):
    """Taps twice and says "done"; before its second decisions the first phone is unplugged."""

    def __init__(self, phones: ServedPhones) -> None:
        super().__init__()
        self._phones = phones

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        if len(self.batches) == 1:
            self._phones.phones.unplug(0)
        return super().decide(observations)

    def _decide(self, observation: Observation) -> Decision:
        enough = len(observation.past_actions) >= 2
        return Decision(Done() if enough else Tap(0.5, 0.03))


def test_a_spare_takes_over_from_an_unplugged_phone_and_nothing_is_mislabelled() -> None:
    """In the middle of an episode, with a judge who would have called it a failure."""
    with served_phones(3) as phones:
        devices = [SimulatedAdbDevice(phones.device(number)) for number in range(3)]
        collector = Collector(
            "collector-0",
            PolicyBatcher(PullsTheCable(phones)),
            DevicePool(devices[:2], devices[2:], FOR_EVER),
            UniformTasks(POOL),
            ListSink(),
            FactJudge,
        )
        played = collector.collect(6)
        collector.close_devices()
        device_of = {each.id: each.device for each in collector.drain_finished()}
    lost = [each for each in played if each.ending is Ending.DEVICE_LOST]
    assert [device_of[each.id] for each in lost] == ["phone-0"]
    assert lost[0].verdict is None
    assert "DeviceDisconnected" in lost[0].notes[0]
    others = [each for each in played if each not in lost]
    assert {device_of[each.id] for each in others} == {"phone-1", "phone-2"}
    assert {each.ending for each in others} == {Ending.FAILURE}
    assert lost[0].task.id in {each.task.id for each in others}  # tried again, elsewhere
