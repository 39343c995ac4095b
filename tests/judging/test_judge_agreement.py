"""A judge with known error rates on the simulated phone: the measured confusion matches them."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from functools import cache

import pytest
from tests.chat.chat_protocol import Asked, Reply, completion, serving, texts_in
from tests.judging.judge_server import settings_for

from distrl.episodes.episode import run_episode
from distrl.episodes.evaluation import SIMPLE_AGENTS
from distrl.judging.judge import TrajectoryJudge
from distrl.judging.judge_agreement import Confusion
from distrl.judging.judge_prompt import JudgePrompt
from distrl.judging.judge_thread_pool import JudgeThreadPool
from distrl.judging.vlm_judge import VlmJudge
from distrl.records import Trajectory
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task

TEMPLATES = ("clock.set_alarm", "notes.create", "todo.add")
EACH = 30  # episodes of each template and agent
SIGMAS = 4.0  # a deviation that happens once in 16,000 runs, and never with these seeds


@cache
def episodes() -> tuple[Trajectory, ...]:
    """Half successes, half failures, with the verdicts of the facts."""
    device = SimulatedDevice("phone")
    found = []
    for template in TEMPLATES:
        for number in range(EACH):
            task = load_task(f"{template}/train/{number}")[0]
            for agent in ("scripted", "done"):
                judge = FactJudge(device)
                policy = SIMPLE_AGENTS[agent](task, device, judge)
                name = f"{agent}/{task.id}"
                found.append(run_episode(task, device, policy, judge, episode_id=name))
    return tuple(found)


def measured(judge: TrajectoryJudge, trajectories: Sequence[Trajectory]) -> Confusion:
    """The judge against the facts."""
    truths = {each.id: each.verdict.success for each in trajectories if each.verdict}
    confusion = Confusion()
    with JudgeThreadPool(judge, at_once=4) as judge_pool:
        for trajectory in trajectories:
            judge_pool.submit(trajectory)
        while len(judge_pool):
            judge_pool.wait(60.0)
            for each in judge_pool.drain():
                assert each.judgement is not None
                truly = truths[each.trajectory.id]
                confusion.count(said=each.judgement.verdict.success, truly=truly)
    return confusion


def close(share: float, expected: float, count: int) -> bool:
    return abs(share - expected) <= SIGMAS * math.sqrt(expected * (1.0 - expected) / count)


@pytest.mark.parametrize(("false_positive", "false_negative"), [(0.0, 0.0), (0.08, 0.2)])
def test_the_confusion_of_a_model_on_a_server_is_what_was_put_in(
    false_positive: float, false_negative: float
) -> None:
    trajectories = episodes()
    prompt = JudgePrompt(last_screens=1)
    truths = {
        (each.task.instruction, len(each.decisions)): each.verdict.success
        for each in trajectories
        if each.verdict
    }
    rng = random.Random("noise")

    def answer(asked: Asked) -> bytes:
        """It knows the truth, by the task and the number of steps, and does not always say it."""
        task, steps, *_ = texts_in(asked)[0].splitlines()
        instruction = json.loads(task.removeprefix("Task: "))
        taken = int(steps.removeprefix("Steps taken: ").partition(".")[0])
        truly = truths[instruction, taken]
        wrong = rng.random() < (false_negative if truly else false_positive)
        return completion(f"Verdict: {'success' if truly is not wrong else 'failure'}")

    with serving(Reply(answer)) as (url, _), VlmJudge.open(settings_for(url), prompt) as judge:
        confusion = measured(judge, trajectories)
    half = len(TEMPLATES) * EACH
    assert confusion.total == 2 * half
    assert confusion.true_positives + confusion.false_negatives == half
    assert close(confusion.false_positive_rate, false_positive, half)
    assert close(confusion.false_negative_rate, false_negative, half)
    assert (confusion.disagreement > 0) == (false_positive + false_negative > 0)
