"""Success in other words is paired with the same tasks as demonstrations say them."""

from __future__ import annotations

import pytest
from benchmarks.wordings import figures

from distrl.episodes.outcome import Outcome
from distrl.records import Ending, Split
from phonesim.tasks.task_sets import load_task

NAMES = ("notes.delete", "clock.set_alarm", "shopping.buy", "shopping.visit")


def outcomes(split: Split, *done: str) -> list[Outcome]:
    return [
        Outcome(
            load_task(f"{name}/{split}/0")[0],
            Ending.SUCCESS if name in done else Ending.FAILURE,
            steps=3,
            reason="",
        )
        for name in NAMES
    ]


def test_a_split_stands_beside_the_same_tasks_of_test() -> None:
    found = dict(
        figures(
            {
                "test": outcomes("test", *NAMES[:3]),
                "paraphrased": outcomes("paraphrased", NAMES[0], NAMES[3]),
            }
        )
    )
    assert (found["test"], found["paraphrased"]) == (0.75, 0.5)
    assert (found["paraphrased_general"], found["paraphrased_shopping"]) == (0.5, 0.5)
    assert found["paraphrased_change"] == pytest.approx(-0.25)  # one gained, two lost, of four
    assert found["paraphrased_change_low"] < -0.25 < found["paraphrased_change_high"]
    assert "test_change" not in found
