"""Elements in an episode: read where the policy asks, stored, and shown to the learner again."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from distrl.engine.serving.decision_messages import decision_request, observation_of
from distrl.episodes.episode import Episode, run_episode
from distrl.errors import CorruptRecord, ScreenRestless
from distrl.hierarchy import Element, readable
from distrl.learning.batch import observation_of as learned_observation
from distrl.records import Action, Decision, Done, Home, Observation, OpenApp, Tap, TypeText, Wait
from distrl.replay.compressed_screen import compress
from distrl.replay.trajectory_encoding import PREFIX, decode_trajectory, encode_trajectory
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task

TASK, _ = load_task("notes.create/train/1")
ACTIONS: tuple[Action, ...] = (OpenApp("Notes"), Tap(0.5, 0.3), TypeText("x"), Home(), Done())


class Reader:
    """Does what it was told, and keeps what it saw."""

    def __init__(self, *actions: Action, reads_elements: bool = True) -> None:
        self._actions = list(actions)
        self.reads_elements = reads_elements
        self.seen: list[Observation] = []

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        self.seen.extend(observations)
        return [Decision(self._actions.pop(0))]


class CountingPhone(SimulatedDevice):
    """Counts how often its hierarchy is read; restless at some of the times."""

    def __init__(self, *restless: int) -> None:
        super().__init__("test")
        self.restless = restless
        self.read = 0

    def elements(self) -> tuple[Element, ...]:
        self.read += 1
        if self.read in self.restless:
            raise ScreenRestless("it plays a video")
        return super().elements()


def test_who_reads_no_elements_pays_for_none() -> None:
    device, policy = CountingPhone(), Reader(Wait(), Done(), reads_elements=False)
    trajectory = run_episode(TASK, device, policy, FactJudge(device))
    assert device.read == 0
    assert trajectory.elements == ()
    assert {(each.elements, each.touched) for each in policy.seen} == {((), ())}
    assert b'"elements"' not in encode_trajectory(trajectory)  # as it was before there were any


def test_the_learner_sees_the_elements_that_the_policy_saw() -> None:
    device, policy = CountingPhone(), Reader(*ACTIONS)
    trajectory = run_episode(TASK, device, policy, FactJudge(device))
    assert device.read == len(ACTIONS)  # once for each screen; the last action is only said
    again = decode_trajectory(encode_trajectory(trajectory))
    assert again.elements == trajectory.elements
    assert len(set(again.elements)) > 2
    for step, seen in enumerate(policy.seen):
        learned = learned_observation(again, step)
        assert learned.elements == seen.elements != ()
        assert learned.touched == seen.touched
        assert len(seen.touched) == step
    assert policy.seen[-1].touched[1] is not None  # the tap met something


def test_the_policy_process_is_shown_the_same() -> None:
    device, policy = SimulatedDevice("test"), Reader(*ACTIONS)
    run_episode(TASK, device, policy, FactJudge(device))
    for seen in policy.seen:
        screens = [compress(each) for each in (*seen.past_screens, seen.screen)]
        there = observation_of(decision_request(1, "s", seen, 0, screens), screens)
        assert (there.elements, there.touched) == (seen.elements, seen.touched)


def test_a_fork_goes_on_with_the_elements_of_its_step() -> None:
    device = SimulatedDevice("test")
    episode = Episode.begin(TASK, device, FactJudge(device), forks=True, elements=True)
    for action in (OpenApp("Notes"), Wait(), Done()):
        episode.take(Decision(action))
    [fork] = episode.forks(1)
    assert fork.observation.elements == readable(device.elements())
    fork.take(Decision(Done()))
    assert len(fork.trajectory().elements) == len(fork.decisions) + 1


def test_a_screen_that_never_rests_has_no_elements_and_a_note() -> None:
    device, policy = CountingPhone(2), Reader(OpenApp("Clock"), Wait(), Done())
    trajectory = run_episode(TASK, device, policy, FactJudge(device))
    assert trajectory.elements[1] == ()
    assert trajectory.elements[2]
    assert trajectory.notes == ("screen 2: ScreenRestless: it plays a video",)


@pytest.mark.parametrize("places", [[0], [0, 0, 7], "all", [[0], [0], [0]]])
def test_damaged_elements_are_a_corrupt_record(places: object) -> None:
    device = SimulatedDevice("test")
    data = encode_trajectory(run_episode(TASK, device, Reader(Wait(), Done()), FactJudge(device)))
    magic, version, length = PREFIX.unpack_from(data)
    header = json.loads(data[PREFIX.size : PREFIX.size + length])
    header["elements"] = places
    text = json.dumps(header).encode()
    spoilt = PREFIX.pack(magic, version, len(text)) + text + data[PREFIX.size + length :]
    with pytest.raises(CorruptRecord):
        decode_trajectory(spoilt)
