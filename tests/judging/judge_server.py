"""A local OpenAI-compatible server that plays the judge, and trajectories for it to judge."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from tests.chat.chat_protocol import Log, Reply, completion, serving

from distrl.chat.chat_server import ServerSettings
from distrl.judging.judge_prompt import JudgePrompt
from distrl.judging.rate_budget import BudgetSettings
from distrl.judging.vlm_judge import KEY_VARIABLE, VlmJudge, VlmJudgeSettings
from distrl.records import Action, Decision, Done, Ending, Screen, Tap, Task, Trajectory

TASK = Task("made.up/train/1", "Open the notes", "general", "made.up", "train", 1, (), "easy", 5)
USAGE = {"prompt_tokens": 1000, "completion_tokens": 50}


def said(text: str) -> Reply:
    return Reply(completion(text, usage=USAGE))


YES = said("The note is there.\nReason: the note is open\nVerdict: success")
NO = said("There is no note.\nReason: the list is empty\nVerdict: failure")


def screen(number: int) -> Screen:
    pixels = np.random.default_rng(number).integers(0, 256, (40, 20, 3), dtype=np.uint8)
    return Screen(pixels)


def played(
    name: str = "a",
    *actions: Action,
    ending: Ending = Ending.AWAITING_VERDICT,
    instruction: str = "Open the notes",
    first: int = 0,
) -> Trajectory:
    """An episode that nobody has judged."""
    taken = actions or (Tap(0.5, 0.25), Done())
    return Trajectory(
        id=name,
        task=dataclasses.replace(TASK, instruction=instruction),
        decisions=tuple(Decision(action) for action in taken),
        screens=tuple(screen(first + number) for number in range(len(taken) + 1)),
        ending=ending,
        verdict=None,
        device_seconds=1.0,
    )


def settings_for(
    url: str,
    *,
    model: str = "judge",
    tries: int = 3,
    deadline_s: float = 20.0,
    readings: int = 3,
    budget: BudgetSettings | None = None,
) -> VlmJudgeSettings:
    server = ServerSettings(
        url,
        key_variable=KEY_VARIABLE,
        deadline_s=deadline_s,
        tries=tries,
        first_wait_s=0.01,
        max_wait_s=0.02,
    )
    return VlmJudgeSettings(
        server,
        model,
        readings=readings,
        prompt_price=2.0,
        answer_price=10.0,
        budget=budget or BudgetSettings(),
    )


@contextmanager
def judge_that_says(
    *replies: Reply,
    prompt: JudgePrompt | None = None,
    cache: Path | None = None,
    readings: int = 3,
    tries: int = 3,
    deadline_s: float = 20.0,
    budget: BudgetSettings | None = None,
) -> Iterator[tuple[VlmJudge, Log]]:
    with serving(*replies, models=("judge",)) as (url, log):
        settings = settings_for(
            url, tries=tries, deadline_s=deadline_s, readings=readings, budget=budget
        )
        with VlmJudge.open(settings, prompt, cache) as judge:
            yield judge, log
