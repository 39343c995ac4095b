"""The learner with a vision-language policy: what is tested on tables is what trains models."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import pytest
import torch
from tests.agent.vlm_policies import screen, tiny_policy
from torch import Tensor

from distrl.agent.lora import LoraSettings
from distrl.agent.vlm_policy import VlmPolicy
from distrl.learning.algorithms.a_ride import ARide
from distrl.learning.gradient_step import GradientStep, StepSettings
from distrl.learning.learner import Learner
from distrl.learning.learner_report import LearnerReport
from distrl.learning.learner_settings import LearnerSettings
from distrl.records import Decision, Ending, Observation, Task, Trajectory, Verdict
from distrl.replay.buffer.pacing import Pacing
from distrl.replay.buffer.replay_buffer import ReplayBuffer

TASK = Task("t/train/0", "Open the clock", "general", "t", "train", 0, (), "easy", 5)
STEPS = 3


class Published:
    def __init__(self) -> None:
        self.weights: dict[int, Mapping[str, Tensor]] = {}

    def publish(self, weights: Mapping[str, Tensor], version: int) -> None:
        self.weights[version] = weights


def episode(policy: VlmPolicy, number: int, size: tuple[int, int] = (210, 160)) -> Trajectory:
    """The policy's own decisions on made-up screens; every other one is called a success."""
    screens = tuple(screen(10 * number + step, *size) for step in range(STEPS + 1))
    decisions: list[Decision] = []
    for step in range(STEPS):
        past = tuple(decision.action for decision in decisions)
        seen = Observation(TASK.instruction, screens[step], past, screens[:step])
        decisions += policy.decide([seen])
    ending = Ending.SUCCESS if number % 2 else Ending.FAILURE
    verdict = Verdict(bool(number % 2), "", "made up")
    return Trajectory(str(number), TASK, tuple(decisions), screens, ending, verdict, 0.0)


def learner_of(policy: VlmPolicy, publisher: Published) -> Learner:
    step = GradientStep(policy, StepSettings(micro_batch_turns=4, learning_rate=0.01))
    settings = LearnerSettings(
        batch_trajectories=4, refresh_trajectories=0, updates_per_publish=1, mode="offline"
    )
    learner = Learner(
        policy, ARide(step), step, ReplayBuffer(), Pacing(1.0), deque(), publisher, settings
    )
    learner.preload(episode(policy, number) for number in range(4))
    return learner


@pytest.mark.parametrize(
    ("settings", "back"),
    [({}, 6.0), ({"gradient_checkpointing": "on"}, 8.0), ({"lora": LoraSettings(rank=4)}, None)],
    ids=["whole", "checkpointed", "adapters"],
)
def test_a_step_moves_and_publishes_a_model_and_counts_its_work(
    settings: dict[str, Any], back: float | None
) -> None:
    torch.set_num_threads(1)
    policy = tiny_policy("qwen3_vl", past_screens=0, **settings)
    publisher = Published()
    before, learner = policy.weights(), learner_of(policy, publisher)
    looked, learned = policy.forward_tokens, policy.training_tokens
    report = learner.step()
    assert isinstance(report, LearnerReport)
    assert report.ratio_quantiles == pytest.approx((1.0,) * 7, abs=1e-3)  # its own data
    [published] = publisher.weights.values()
    assert any(not torch.equal(before[name], published[name]) for name in before)
    looked, learned = policy.forward_tokens - looked, policy.training_tokens - learned
    assert learned > 4 * STEPS * 50  # prompts and pictures, not answers alone
    assert looked == 0  # one pass serves targets and gradient; no trajectory here was cut off
    assert report.work is not None
    assert report.work.tokens == looked + learned
    per_token = back or 4.0 + 2.0 * policy.trainable_count / policy.parameter_count
    parameters = sum(each.numel() for each in policy.network.parameters())
    assert report.work.flops == pytest.approx(parameters * (2.0 * looked + per_token * learned))
    assert "model_tokens_per_second" in report.gauges()
