"""The user knows what the task is about, by the name of each thing, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from distrl.episodes.episode import run_episode
from distrl.judging.judge import NOBODY, DeferredJudge
from distrl.records import Action, AskUser, Decision, Done, Observation
from phonesim.drift import NO_DRIFT
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.scripted_user import UNKNOWN, reply_of
from phonesim.tasks.task_sets import load_task

TASK, NOTE = load_task("notes.create/train/3")


class Saying:
    """Does one thing after the other, and remembers what it saw."""

    def __init__(self, *actions: Action) -> None:
        self._actions = iter(actions)
        self.seen: list[Observation] = []

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        self.seen += observations
        return [Decision(next(self._actions)) for _ in observations]


def test_a_question_is_answered_with_what_it_names() -> None:
    words = NOTE.words()
    assert reply_of(NOTE, "What should the TITLE be?") == f"The title is {words['title']}."
    assert reply_of(NOTE, "What shall I write in it?") == f"The text is {words['text']}."
    assert reply_of(NOTE, "Which colour do you like?") == UNKNOWN
    assert reply_of(NOTE, "") == UNKNOWN


def test_the_reply_is_in_the_past_of_what_the_policy_sees_and_in_the_record() -> None:
    device = SimulatedDevice("asked", NO_DRIFT)
    policy = Saying(AskUser("Which title?", reply="I made this up"), Done())
    played = run_episode(TASK, device, policy, FactJudge(device))
    asked = AskUser("Which title?", f"The title is {NOTE.words()['title']}.")
    assert policy.seen[1].past_actions == (asked,)
    assert played.decisions[0].action == asked
    assert played.screens[0].digest == played.screens[1].digest


def test_without_a_user_nobody_answers() -> None:
    device = SimulatedDevice("alone", NO_DRIFT)
    policy = Saying(AskUser("Which title?"), Done())
    run_episode(replace(TASK), device, policy, DeferredJudge(FactJudge(device)))
    assert policy.seen[1].past_actions == (AskUser("Which title?", NOBODY),)
