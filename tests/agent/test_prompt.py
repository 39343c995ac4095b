"""Prompts: what is told of an observation, in the model's own dialect, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from distrl.agent.dialects import DIALECTS
from distrl.agent.dialects.compact import COMPACT
from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.prompt import Prompter
from distrl.errors import InvalidSetting
from distrl.records import Back, Home, Observation, Screen, Tap, TypeText, Unreadable

SCREENS = [Screen(np.full((72, 36, 3), shade, np.uint8)) for shade in range(4)]
NOW = Observation(
    "Write {history} into a note",
    SCREENS[3],
    (Home(), Tap(0.5, 0.25), TypeText("a, “b”\n{action}")),
    tuple(SCREENS[:3]),
)


def test_a_small_model_is_told_the_facts_alone() -> None:
    prompt = Prompter(COMPACT).write(NOW)
    assert prompt.system == ""
    assert prompt.text == (
        "Write {history} into a note\n<home>\n<tap><18,18>\n<type>a, “b”\n{action}"
    )
    assert prompt.screens == (SCREENS[3],)
    first = replace(NOW, past_actions=(), past_screens=())
    assert Prompter(COMPACT).write(first).text == "Write {history} into a note"


def test_so_much_of_the_past_as_is_asked_for() -> None:
    dialect = replace(COMPACT, name="qwen3_vl")  # its template, with short actions
    told = {count: Prompter(dialect, count).write(NOW).text for count in (0, 1, 2, 9)}
    ask = told[0].removesuffix("none")
    assert ask.startswith("The user query: Write {history} into a note\n")
    assert told[0] == f"{ask}none"
    assert told[1] == f"{ask}Step 3: <type>a, “b”\n{{action}}"
    assert told[2] == f"{ask}Step 2: <tap><18,18> ; {told[1].removeprefix(ask)}"
    assert told[9] == f"{ask}Step 1: <home> ; {told[2].removeprefix(ask)}"
    for count, seen in ((0, 1), (1, 2), (2, 3), (9, 4)):
        shown = Prompter(COMPACT, past_screens=count).write(NOW).screens
        assert shown == tuple(SCREENS[4 - seen :])  # oldest first, the current one last


def test_what_could_not_be_read_is_not_repeated() -> None:
    babble = Unreadable("<|image_pad|>" * 50, "no such answer")
    seen = replace(NOW, past_actions=(Back(), babble))
    for name, dialect in DIALECTS.items():
        text = Prompter(dialect).write(seen).text
        assert "image_pad" not in text, name
        assert dialect.write(Back(), ImageSize(36, 72)) in text, name


def test_places_are_told_in_the_pixels_that_the_model_sees() -> None:
    dialect = DIALECTS["qwen2_5_vl"]
    prompter = Prompter(dialect, seen_size=lambda screen: ImageSize(280, 560))
    assert "[140, 140]" in prompter.write(NOW).text
    assert "[18, 18]" in Prompter(dialect).write(NOW).text


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_every_dialect_has_its_instruction_and_its_history_told(name: str) -> None:
    prompt = Prompter(DIALECTS[name]).write(NOW)
    assert prompt == Prompter(DIALECTS[name]).write(NOW)
    assert NOW.instruction in prompt.text
    assert prompt.system == DIALECTS[name].instructions
    for change in (
        replace(NOW, instruction="Call Ada"),
        replace(NOW, past_actions=()),
    ):
        assert Prompter(DIALECTS[name]).write(change).text != prompt.text


def test_less_than_nothing_cannot_be_told() -> None:
    with pytest.raises(InvalidSetting, match="past_actions=-1"):
        Prompter(COMPACT, -1)
    with pytest.raises(InvalidSetting, match="past_screens=-2"):
        Prompter(COMPACT, past_screens=-2)
