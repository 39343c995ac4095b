"""Prompts: what is told of an observation, in the model's own dialect, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from distrl.agent.dialects import DIALECTS
from distrl.agent.dialects.compact import COMPACT
from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.dialects.elements import ELEMENTS
from distrl.agent.prompt import Prompter
from distrl.errors import InvalidSetting
from distrl.hierarchy import Element
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


def test_half_a_letter_is_told_as_a_question_mark() -> None:
    """JSON may escape one, and no tokenizer takes it: an error there ends the policy process."""
    seen = replace(NOW, instruction="Write \ud800", past_actions=(TypeText("\udc00b"),))
    prompt = Prompter(DIALECTS["qwen3_vl"]).write(seen)
    assert "Write ?" in prompt.text
    assert '"?b"' in prompt.text
    assert prompt.instruction == "Write ?"


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


# Elements ----------------------------------------------------------------------------------------

SAVE = Element("button", "Save", (0, 0, 18, 36), clickable=True)
TITLE = Element("field", "Title", (18, 36, 36, 72), value="{history}", clickable=True)
READ = replace(NOW, elements=(SAVE, TITLE), touched=(None,) * (len(NOW.past_actions) - 1) + (SAVE,))


def test_elements_are_numbered_in_place_of_the_screen() -> None:
    prompt = Prompter(ELEMENTS, sees="elements").write(replace(READ, past_actions=(), touched=()))
    assert prompt.screens == ()
    assert prompt.text == (
        f"Task: {NOW.instruction}\nDone so far:\nnothing\nOn the screen:\n"
        '1 button "Save"\n2 field "Title" = "{history}"'
    )


def test_elements_stand_beside_the_screen_with_places_as_the_dialect_counts_them() -> None:
    prompter = Prompter(
        DIALECTS["qwen2_5_vl"], seen_size=lambda screen: ImageSize(280, 560), sees="both"
    )
    prompt = prompter.write(READ)
    assert prompt.screens == (NOW.screen,)
    assert prompt.text.endswith(
        '\n\nOn the screen:\n1 button "Save" at 70,140\n2 field "Title" = "{history}" at 210,420'
    )


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_who_sees_the_screen_alone_is_told_of_no_elements(name: str) -> None:
    prompter = Prompter(DIALECTS[name])
    assert not prompter.reads_elements
    assert prompter.write(READ).screens == (NOW.screen,)
    if not DIALECTS[name].numbers:
        assert prompter.write(READ) == prompter.write(NOW)


def test_the_past_is_told_by_what_it_touched() -> None:
    past = replace(READ, past_actions=(Tap(0.2, 0.2),), touched=(SAVE,))
    assert (
        'Done so far:\ntap button "Save"\n' in Prompter(ELEMENTS, sees="elements").write(past).text
    )


def test_a_number_is_read_off_the_list_that_was_told() -> None:
    prompter = Prompter(ELEMENTS, sees="elements")
    assert prompter.read("tap 2", READ) == Tap(0.75, 0.75)
    assert prompter.answer(Tap(0.75, 0.75), READ) == "tap 2"
    assert isinstance(prompter.read("tap 3", READ), Unreadable)
