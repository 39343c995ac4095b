"""The phone as tools: a task is played by calls alone, and trainers can describe every call."""

from __future__ import annotations

import inspect
import re

import pytest

from distrl.episodes.tool_environment import ToolEnvironment
from distrl.records import Verdict
from phonesim.simulated_device import SimulatedDevice

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
    with pytest.raises(ValueError, match="give back, home, enter"):
        environment.press("power")


def test_every_tool_is_described_as_trainers_want_it() -> None:
    methods = inspect.getmembers(ToolEnvironment(), inspect.ismethod)
    tools = [
        each for name, each in methods if name[0] != "_" and name not in ("reset", "get_reward")
    ]
    assert len(tools) == 7
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
