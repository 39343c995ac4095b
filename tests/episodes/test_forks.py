"""Forks: the same beginning, other continuations, on devices that can be put back."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from benchmarks.tabular_policy import TabularPolicy
from tests.episodes.made_up_collectors import ListSink, collector, phones, running, wait_until

from distrl.devices.device import Forkable
from distrl.episodes.collector import Collector
from distrl.episodes.collector_settings import CollectorSettings
from distrl.episodes.demonstrations import ScriptedPolicy
from distrl.episodes.episode import Episode
from distrl.episodes.policy_batcher import PolicyBatcher
from distrl.errors import DeviceDisconnected
from distrl.records import (
    Action,
    Back,
    Branch,
    Decision,
    Done,
    Ending,
    Home,
    Impossible,
    Tap,
    Trajectory,
    Wait,
)
from phonesim.faults import Faults
from phonesim.latency import EVENT_DRIVEN
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task

TASK, _ = load_task("notes.create/train/1")
ANSWERS: dict[tuple[int, ...], Action] = {
    (0,): Tap(0.3, 0.4),
    (1, 0): Tap(0.7, 0.6),
    (1, 1): Back(),
    (2, 0): Done(),
    (2, 1): Home(),
}


def solved(device: SimulatedDevice, *, forks: bool = True) -> Episode:
    """An episode that its task's own solution has played to its end."""
    judge = FactJudge(device)
    episode = Episode.begin(TASK, device, judge, episode_id="c/1", forks=forks)
    solution = ScriptedPolicy(device, judge)
    while not episode.ended:
        [decision] = solution.decide([episode.observation])
        episode.take(decision)
    return episode


def test_a_fork_begins_where_its_parent_was_and_has_a_verdict_of_its_own() -> None:
    device = SimulatedDevice("phone", latency=EVENT_DRIVEN)
    episode = solved(device)
    parent = episode.trajectory()
    [fork] = episode.forks(1)
    branch = Branch("c/1", len(fork.observation.past_actions))
    assert fork.observation.screen is parent.screens[branch.step]
    assert device.screen().digest == parent.screens[branch.step].digest  # the phone is there too
    fork.take(Decision(Impossible()))
    failed = fork.trajectory()
    assert (parent.ending, failed.ending) == (Ending.SUCCESS, Ending.GAVE_UP)
    assert (failed.id, failed.branch, failed.attempt_id) == ("c/1/fork/1", branch, "c/1")
    assert failed.decisions[: branch.step] == parent.decisions[: branch.step]
    assert failed.screens[: branch.step + 1] == parent.screens[: branch.step + 1]
    assert failed.device_seconds < 0.5 * parent.device_seconds


def test_the_same_answers_from_the_same_step_lead_to_the_same_end() -> None:
    episode = solved(SimulatedDevice("phone"))
    parent = episode.trajectory()
    for fork in episode.forks(3):
        for decision in parent.decisions[len(fork.observation.past_actions) :]:
            fork.take(decision)
        again = fork.trajectory()
        assert again.success
        assert [s.digest for s in again.screens] == [s.digest for s in parent.screens]


def test_the_step_does_not_depend_on_what_was_answered() -> None:
    device = SimulatedDevice("phone")
    episode = solved(device)
    length = len(episode.trajectory().decisions)
    [fork] = episode.forks(1)
    other = Episode.begin(TASK, device, FactJudge(device), episode_id="c/1", forks=True)
    for _ in range(length - 1):
        other.take(Decision(Wait(0.0)))
    other.take(Decision(Done()))
    other.trajectory()
    [same] = other.forks(1)
    assert len(same.observation.past_actions) == len(fork.observation.past_actions)


def test_nothing_is_kept_or_forked_unasked_and_faults_fork_nothing() -> None:
    assert list(solved(SimulatedDevice("phone"), forks=False).forks(2)) == []
    broken = SimulatedDevice("phone", faults=Faults(schedule={2: "disconnect"}))
    episode = solved(broken)
    assert episode.trajectory().ending is Ending.DEVICE_LOST
    assert list(episode.forks(2)) == []


class Plain:
    """A phone that cannot be put back: only what a `Device` must do."""

    blocking = False

    def __init__(self) -> None:
        inner = SimulatedDevice("plain")
        self.name, self.phone_of = inner.name, inner
        for method in ("reset", "screen", "perform", "elements", "close"):
            setattr(self, method, getattr(inner, method))

    @property
    def phone(self) -> object:
        return self.phone_of.phone

    @property
    def seconds(self) -> float:
        return self.phone_of.seconds


def test_a_device_that_cannot_be_put_back_is_not_asked() -> None:
    device = Plain()
    assert not isinstance(device, Forkable)
    assert isinstance(SimulatedDevice("phone"), Forkable)
    episode = solved(device)  # type: ignore[arg-type]
    assert episode.trajectory().success
    assert list(episode.forks(2)) == []


# In a collector ----------------------------------------------------------------------------------


def families(trajectories: Sequence[Trajectory]) -> dict[str, list[Trajectory]]:
    found: dict[str, list[Trajectory]] = {}
    for each in trajectories:
        found.setdefault(each.attempt_id, []).append(each)
    return found


def check_families(trajectories: Sequence[Trajectory], forks: int) -> None:
    """Every attempt comes first, then its forks, all from one step of it."""
    for attempt_id, (parent, *continued) in families(trajectories).items():
        assert (parent.id, parent.branch, len(continued)) == (attempt_id, None, forks)
        assert len({each.first_step for each in continued}) == 1
        for each in continued:
            assert each.task == parent.task
            assert each.decisions[: each.first_step] == parent.decisions[: each.first_step]
            assert len(each.decisions) > each.first_step


def forking(
    sink: ListSink, devices: list[SimulatedDevice], forks: int
) -> Collector[SimulatedDevice]:
    policy = TabularPolicy(256, 3, ANSWERS, seed=3)
    settings = CollectorSettings(forks=forks)
    return collector(PolicyBatcher(policy), sink, devices, settings=settings)


def test_in_lockstep_each_attempt_is_followed_by_its_forks() -> None:
    sink = ListSink()
    made = forking(sink, [SimulatedDevice(f"phone-{n}") for n in range(3)], forks=2)
    collected = made.collect(6)
    assert len(collected) == 18 == len(sink.all)
    check_families(collected, 2)
    report = made.report()
    assert (report.started, report.in_flight, report.trajectories) == (6, 0, 18)
    again = forking(ListSink(), [SimulatedDevice(f"phone-{n}") for n in range(3)], forks=2)
    assert [each.decisions for each in again.collect(6)] == [e.decisions for e in collected]


@pytest.mark.parametrize("blocking", [True, False])
def test_with_threads_too(blocking: bool) -> None:
    sink = ListSink()
    devices = phones(2) if blocking else [SimulatedDevice(f"phone-{n}") for n in range(2)]
    made = forking(sink, devices, forks=2)
    made.run(4)
    assert len(sink.all) == 12
    check_families(sink.all, 2)
    assert made.report().in_flight == 0


class LostWhenPutBack(SimulatedDevice):
    """A phone whose connection breaks when it is put back."""

    def restore(self, state: object) -> None:
        raise DeviceDisconnected(f"device {self.name}: the browser has ended; reset it")


@pytest.mark.parametrize("lockstep", [True, False])
def test_a_device_that_fails_when_it_is_put_back_costs_the_forks_alone(lockstep: bool) -> None:
    sink = ListSink()
    made = forking(sink, [LostWhenPutBack("phone")], forks=2)
    if lockstep:
        made.collect(3)
    else:
        made.run(3)
    assert [each.branch for each in sink.all] == [None] * 3
    assert made.report().in_flight == 0


def test_a_stop_in_the_middle_of_forks_keeps_what_was_delivered() -> None:
    sink = ListSink()
    made = forking(sink, [SimulatedDevice("phone")], forks=500)
    with running(made):
        wait_until(lambda: len(sink.all) > 3)
    report = made.report()
    assert report.in_flight == 0
    assert report.trajectories == len(sink.all)
    assert [each.branch is None for each in sink.all][:2] == [True, False]
