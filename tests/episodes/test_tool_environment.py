"""The phone as tools: a task is played by calls alone, and trainers can describe every call."""

from __future__ import annotations

import inspect
import re

import pytest

from distrl.episodes.tool_environment import KEYS, TOOLS, ToolEnvironment
from distrl.judging.judge import NOBODY
from distrl.records import Action, DoubleTap, DragAndDrop, Pinch, Screen, Verdict
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge

TASK = "clock.delete_alarm/train/3"


def numbers(screen: object, *words: str) -> list[int]:
    """The elements whose line has all of the words."""
    lines = str(screen).splitlines()
    found = [line for line in lines if line.startswith("[") and all(w in line for w in words)]
    return [int(line[1 : line.index("]")]) for line in found]


def test_a_task_is_done_by_tools() -> None:
    environment = ToolEnvironment()
    first = str(environment.reset(task="notes.create/train/3", other="ignored"))
    title, text = re.findall(r"['“\"‘]([^'”\"’]+)['”\"’]", first.splitlines()[0])[:2] or ("", "")
    assert title
    screen = environment.open_app("Notes")
    screen = environment.tap(numbers(screen, "New note")[0])
    environment.tap(numbers(screen, "'Title'")[0])
    screen = environment.type_text(title)
    environment.tap(numbers(screen, "'Text'")[0] if text else numbers(screen, "'Title'")[0])
    screen = environment.type_text(text) if text else screen
    environment.tap(numbers(screen, "'Save'")[0])
    assert environment.finish().startswith("done"), environment.reason
    assert environment.get_reward() == 1.0


def test_what_was_not_done_is_worth_nothing_and_the_end_is_the_end() -> None:
    environment = ToolEnvironment()
    environment.reset(task=TASK)
    assert environment.finish().startswith("not done: ")
    assert (environment.reward, environment.done) == (0.0, True)
    with pytest.raises(ValueError, match="over"):
        environment.press("home")
    environment.reset(task=TASK)
    while not environment.done:
        environment.swipe("up")
    assert environment.steps == 10  # its limit
    assert environment.reward == 0.0


def test_a_wrong_call_is_said_to_the_model() -> None:
    environment = ToolEnvironment()
    with pytest.raises(ValueError, match="column `task`"):
        environment.reset()
    environment.reset(task=TASK)
    with pytest.raises(ValueError, match="the screen has 0 to"):
        environment.tap(1000)
    with pytest.raises(ValueError, match="give up, down"):
        environment.swipe("inwards")
    with pytest.raises(ValueError, match="give back, home, enter, recents, shade, volume_up"):
        environment.press("camera")
    with pytest.raises(ValueError, match=r"fingers spread 0\.1 to 10 times"):
        environment.pinch(0, 50)
    with pytest.raises(ValueError, match="the screen has 0 to"):
        environment.drag(0, 1000)


def test_every_tool_is_described_as_trainers_want_it() -> None:
    methods = inspect.getmembers(ToolEnvironment(), inspect.ismethod)
    tools = [
        each for name, each in methods if name[0] != "_" and name not in ("reset", "get_reward")
    ]
    assert {tool.__name__ for tool in tools} == set(TOOLS)
    for tool in tools:
        words = inspect.getdoc(tool) or ""
        for name in inspect.signature(tool).parameters:
            assert re.search(rf"Args:(.|\n)*^\s+{name}: .+", words, re.MULTILINE), tool


def test_a_device_and_a_judge_of_your_own() -> None:
    class Pleased:
        def begin(self, task: object) -> None: ...

        def verdict(self, answer: str | None) -> Verdict:
            return Verdict(answer == "blue", f"it said {answer}", "pleased")

    with SimulatedDevice("mine") as device:
        environment = ToolEnvironment(device, Pleased(), pictures=True)
        assert environment.reset(instruction="What colour is the sky?").startswith("Task: What")
        screen = environment.press("home")
        assert isinstance(screen, list)
        assert screen[0]["image"].size == (360, 720)
        environment.finish("blue")
        assert environment.reward == 1.0
    with pytest.raises(ValueError, match="needs a judge"):
        ToolEnvironment(device)


def test_rare_actions_reach_the_phone() -> None:
    with SimulatedDevice("rare") as device:
        environment = ToolEnvironment(device, FactJudge(device))
        environment.reset(task="notes.create/train/3")
        for key, overlay in (("recents", "recents"), ("shade", "shade")):
            environment.press("home")
            environment.press(key)
            assert device.phone.state.overlay == overlay
        environment.press("home")
        assert "olume" in str(environment.press("volume_up"))
        environment.press("power")
        assert device.phone.state.asleep
        assert {"back", "home", "enter"} < KEYS.keys()


def test_touches_with_more_than_a_tap_are_performed_where_the_elements_are() -> None:
    class Remembering(SimulatedDevice):
        done: list[Action] = []  # noqa: RUF012

        def perform(self, action: Action) -> Screen:
            self.done.append(action)
            return super().perform(action)

    with Remembering("touched") as device:
        environment = ToolEnvironment(device, FactJudge(device))
        environment.reset(task="notes.create/train/3")
        environment.double_tap(0)
        environment.drag(0, 1)
        environment.pinch(0, 2)
        double, drag, pinch = device.done
        assert isinstance(double, DoubleTap)
        assert isinstance(drag, DragAndDrop)
        assert (double.x, double.y) == (drag.x, drag.y)
        assert pinch == Pinch(pinch.x, pinch.y, 2.0)  # type: ignore[union-attr]


def test_the_user_can_be_asked() -> None:
    environment = ToolEnvironment()
    environment.reset(task="notes.create/train/3")
    replied = str(environment.ask_user("Which title shall the note have?"))
    assert replied.startswith("The user says: The title is ")
    assert "[0] " in replied
    assert environment.steps == 1

    class Silent:
        def begin(self, task: object) -> None: ...

        def verdict(self, answer: str | None) -> None: ...

    with SimulatedDevice("alone") as device:
        alone = ToolEnvironment(device, Silent(), pictures=True)
        alone.reset(instruction="Write a note")
        told = alone.ask_user("Which?")
        assert isinstance(told, list)
        assert told[0]["text"] == f"The user says: {NOBODY}"
