"""Questions and answers of a judge: their form, their hash, and examples as data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.judging.judge_server import played

from distrl.errors import InvalidSetting
from distrl.judging.judge_prompt import BUILT_IN, JudgePrompt, read_examples, read_verdict
from distrl.records import Done, Tap


@pytest.mark.parametrize(
    ("text", "success", "reason"),
    [
        ("Reason: it is there\nVerdict: success", True, "it is there"),
        ("It is not.\n\n**Verdict:** failure.", False, "It is not."),
        ("verdict = SUCCESS\r\n", True, ""),
        ("Verdict: success\nNo, wait.\nVerdict: failure", False, "Verdict: success No, wait."),
        ("> - `Verdict: failure`", False, ""),
        ("```\nVerdict: failure\n```\n\n", False, "```"),
    ],
)
def test_verdicts_are_read_however_they_are_dressed(text: str, success: bool, reason: str) -> None:
    said = read_verdict(text)
    assert said == (success, reason)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "success",
        "Verdict: success or failure",
        "The verdict: success is not certain",
        "Verdict: unsuccessful",
        "Verdict:\nsuccess",
        "Verdict: not success",
        "Verdict: success\nOh wait, it is a failure.",
        "Verdict: success\nVerdict: failure\nor so",
    ],
)
def test_what_is_not_said_clearly_is_no_verdict(text: str) -> None:
    assert read_verdict(text) is None


def test_the_built_in_examples_answer_as_they_ask_others_to() -> None:
    messages = JudgePrompt().messages(JudgePrompt().case_of(played()), lambda screen: "url")
    answers = [message["content"] for message in messages if message["role"] == "assistant"]
    said = [read_verdict(answer) for answer in answers]
    assert [each[0] for each in said if each] == [each.success for each in BUILT_IN]
    assert {each.success for each in BUILT_IN} == {True, False}


def test_the_hash_changes_with_everything_that_changes_the_question(tmp_path: Path) -> None:
    write_example(tmp_path, colour=0)
    first = JudgePrompt(read_examples(tmp_path / "examples.toml"))
    write_example(tmp_path, colour=1)
    second = JudgePrompt(read_examples(tmp_path / "examples.toml"))
    prompts = [
        first,
        second,
        JudgePrompt(),
        JudgePrompt(BUILT_IN[:2]),
        JudgePrompt(last_screens=1),
        JudgePrompt(last_actions=1),
        JudgePrompt(system="Judge."),
    ]
    assert len({prompt.hash for prompt in prompts}) == len(prompts)
    assert JudgePrompt().hash == JudgePrompt().hash


def test_the_key_names_the_task_the_screens_and_the_actions() -> None:
    prompt = JudgePrompt()

    def key(**changed: object) -> str:
        return prompt.key_of(prompt.case_of(played(**changed)))  # type: ignore[arg-type]

    others = [
        key(instruction="Close the notes"),
        key(first=1),
        prompt.key_of(prompt.case_of(played("a", Tap(0.5, 0.26), Done()))),
    ]
    bare = JudgePrompt([])
    assert bare.key_of(bare.case_of(played())) != key()
    assert key() == key(name="b")
    assert len({key(), *others}) == 4


# Examples from a file ----------------------------------------------------------------------------


def write_example(folder: Path, *, colour: int = 0, more: str = "") -> Path:
    Image.fromarray(np.full((4, 3, 3), colour, np.uint8)).save(folder / "alarm.png")
    file = folder / "examples.toml"
    file.write_text(
        f'[[example]]\ninstruction = "Set an alarm"\nactions = ["waited"]\n'
        f'picture = "alarm.png"\nthoughts = "It is there."\nsuccess = true\n{more}'
    )
    return file


def test_an_example_has_its_picture(tmp_path: Path) -> None:
    [example] = read_examples(write_example(tmp_path, colour=9))
    assert example.picture is not None
    assert example.picture.pixels.shape == (4, 3, 3)
    prompt = JudgePrompt([example])
    messages = prompt.messages(prompt.case_of(played()), lambda screen: f"{screen.width}")
    asked = [
        part for message in messages if message["role"] == "user" for part in message["content"]
    ]
    shown = [part["image_url"]["url"] for part in asked if part["type"] == "image_url"]
    assert shown == ["3", "20", "20"]  # the example's, and two of the case


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "one or more tables"),
        ("example = 3", "one or more tables"),
        ("[[example]]\nmood = 'bad'", "mood"),
        ("[[example]]\ninstruction = 'x'\nthoughts = 'y'\nseen = 'z'", "success = true or false"),
        ("[[example]]\ninstruction = 'x'\nthoughts = 'y'\nsuccess = true", "what is seen"),
        (
            "[[example]]\ninstruction = 'x'\nthoughts = 'y'\nsuccess = true\npicture = 'no.png'",
            "no picture",
        ),
        ("[[example]", "TOML"),
        ("example = [1]", "is no table"),
        ("[[example]]\nactions = 3", "everything but success is text"),
        (
            "[[example]]\ninstruction = 'x'\nthoughts = 'y'\nsuccess = true\npicture = \"\\u0000\"",
            "no picture",
        ),
        ("example = " + "[" * 100_000, "nested too deeply"),
        ("example = " + "1" * 5_000, "give a TOML file"),
        ("# " + "a" * 2_000_000, "more than 1,000,000 bytes"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "examples.toml"
    file.write_text(text)
    with pytest.raises(InvalidSetting, match=why):
        read_examples(file)
