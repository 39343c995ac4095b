"""The dialect of numbered elements: what it writes, what it forgives, and that it says enough."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from distrl import records as r
from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.dialects.elements import ELEMENTS, SHADE
from distrl.agent.element_list import ElementList
from distrl.agent.prompt import Prompter
from distrl.episodes.demonstrations import ScriptedPolicy
from distrl.episodes.episode import run_episode
from distrl.hierarchy import Element
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task, template_names

SIZE = ImageSize(100, 200)
LISTED = ElementList.of(
    (
        Element("button", "Save", (0, 0, 50, 20), clickable=True),
        Element("field", "Title", (0, 20, 100, 40), clickable=True, focused=True),
        Element("field", "Text", (0, 40, 100, 60), clickable=True),
        Element("slider", "Volume", (0, 60, 100, 80), clickable=True),
        Element("scroll", "", (0, 80, 100, 200), scrollable=True),
        Element("scroll", "", (0, 80, 100, 100), scrollable=True),
    ),
    *SIZE,
)


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        ("tap 1", r.Tap(0.25, 0.05)),
        ("Tap [1]", r.Tap(0.25, 0.05)),
        ('click #1 "Save"', r.Tap(0.25, 0.05)),
        ("tap(1)", r.Tap(0.25, 0.05)),
        ("tap 512,730", r.Tap(0.512, 0.73)),
        ("hold 1", r.LongPress(0.25, 0.05)),
        ("type 2: milk, eggs", r.TypeText("milk, eggs")),
        ("type: 3: eggs", r.TypeText("3: eggs")),
        ("type 3: milk", r.Tap(0.5, 0.25)),  # it has no focus yet
        ("set 4 50%", r.Tap(0.5, 0.35)),
        ("scroll down", r.Swipe(0.5, 0.85, 0.5, 0.55, 0.8)),
        ("scroll 6 left", r.Swipe(0.25, 0.45, 0.75, 0.45, 0.8)),
        ("shade", SHADE),
        ("open: Clock", r.OpenApp("Clock")),
        ("answer: 42", r.Answer("42")),
        ("wait", r.Wait()),
        ("wait 5 seconds", r.Wait(5.0)),
        ("Done.", r.Done()),
        ("back\n", r.Back()),
    ],
)
def test_what_an_answer_means(answer: str, action: r.Action) -> None:
    read = ELEMENTS.read(answer, SIZE, LISTED)
    assert type(read) is type(action)
    for name in action.__dataclass_fields__:
        assert getattr(read, name) == pytest.approx(getattr(action, name)), answer


@pytest.mark.parametrize(
    "answer",
    [
        "tap", "tap Save", "tap 7", "tap 0", "tap 99999", "tap 1001,5", "set 4", "set 4 101%",
        "set 9 5%", "scroll", "scroll 9 up", "scroll sideways", "type milk", "open Clock", "answer",
        "wait long", "wait 601", "back to the start", "tapped 1", "I would tap 1", "", "1",
    ],
)  # fmt: skip
def test_what_means_nothing_says_why(answer: str) -> None:
    read = ELEMENTS.read(answer, SIZE, LISTED)
    assert isinstance(read, r.Unreadable), read
    assert read.text == answer
    assert read.reason


@pytest.mark.parametrize(
    ("action", "answer"),
    [
        (r.Tap(0.3, 0.02), "tap 1"),
        (r.Tap(0.9, 0.02), "tap 900,20"),
        (r.LongPress(0.3, 0.02), "hold 1"),
        (r.TypeText("milk"), "type 2: milk"),
        (r.Tap(0.5, 0.35), "set 4 50%"),
        (r.Swipe(0.5, 0.9, 0.5, 0.6), "scroll down"),
        (r.Swipe(0.5, 0.41, 0.5, 0.9), "scroll 6 up"),
        (r.Swipe(0.5, 0.005, 0.5, 0.6), "shade"),
        (r.OpenApp("Clock"), "open: Clock"),
    ],
)
def test_what_an_action_is_answered_as(action: r.Action, answer: str) -> None:
    assert ELEMENTS.write(action, SIZE, LISTED) == answer


def test_the_past_is_told_by_what_was_touched() -> None:
    button, *_ = LISTED.elements
    assert ELEMENTS.write_past(r.Tap(0.3, 0.02), SIZE, button) == 'tap button "Save"'
    assert ELEMENTS.write_past(r.LongPress(0.3, 0.02), SIZE, button) == 'hold button "Save"'
    assert ELEMENTS.write_past(r.Tap(0.3, 0.02), SIZE, None) == "tap 300,20"
    assert ELEMENTS.write_past(r.TypeText("milk"), SIZE, button) == "type: milk"


# Enough for every task ----------------------------------------------------------------------------


class InWords:
    """The scripted solution, said in this dialect and understood again."""

    reads_elements = True

    def __init__(self, device: SimulatedDevice, judge: FactJudge) -> None:
        self._script = ScriptedPolicy(device, judge)
        self._prompter = Prompter(ELEMENTS, sees="elements")
        self.said: list[str] = []

    def decide(self, observations: Sequence[r.Observation]) -> list[r.Decision]:
        [observation] = observations
        [decision] = self._script.decide(observations)
        text = self._prompter.answer(decision.action, observation)
        self.said.append(text)
        return [r.Decision(self._prompter.read(text, observation), text)]


def solved(task_id: str) -> tuple[bool, list[str]]:
    task, _ = load_task(task_id)
    device = SimulatedDevice("test")
    judge = FactJudge(device)
    policy = InWords(device, judge)
    return run_episode(task, device, policy, judge).success, policy.said


@pytest.mark.parametrize("template", ["notes.create", "settings.brightness", "shopping.buy"])
def test_a_solution_in_numbers_solves_the_task(template: str) -> None:
    name = next(each for each in template_names("train") if each.startswith(template))
    success, said = solved(f"{name}/train/1")
    assert success, said
    assert any(text.startswith(("tap ", "set ")) and "," not in text for text in said)


@pytest.mark.slow
def test_every_solution_can_be_said_in_numbers() -> None:
    failed = {
        name: said
        for name in template_names("train")
        if not (outcome := solved(f"{name}/train/3"))[0] and (said := outcome[1])
    }
    assert not failed
