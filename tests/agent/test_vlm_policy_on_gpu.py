"""A vision-language policy on a GPU: everything is where it belongs, and bf16 is near float32."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from tests.agent.test_packed_decoder import many_pictures
from tests.agent.test_shared_prefix import policy_of
from tests.agent.vlm_policies import SHARP, observations, tiny_policy

from distrl.learning.algorithms.a_ride import ARide
from distrl.learning.batch import batch_of
from distrl.learning.gradient_step import GradientStep
from distrl.records import Ending, Task, Trajectory, Verdict

pytestmark = pytest.mark.gpu

SLOW = dataclasses.replace(SHARP, temperature=1.0)


@pytest.mark.parametrize("weights", ["float32", "bfloat16"])
@pytest.mark.parametrize("family", ["qwen2_5_vl", "auto_ui"])
def test_sampling_and_training_agree_on_the_gpu(family: str, weights: str) -> None:
    policy = tiny_policy(family, device="cuda", weights=weights, sampling=SLOW)
    decisions = policy.decide(observations())
    with torch.no_grad():
        scores = policy.score(observations(), [each.token_ids for each in decisions])
    for tensor in (scores.log_probs, scores.entropies, scores.value_logits):
        assert tensor.is_cuda
        assert tensor.dtype == torch.float32
    for row, decision in enumerate(decisions):
        sampled = torch.tensor(decision.log_probs, device="cuda")
        gap = (scores.log_probs[row, : len(sampled)] - sampled).abs().max()
        assert float(gap) < (1e-3 if weights == "float32" else 0.1)


@pytest.mark.parametrize("weights", ["float32", "bfloat16"])
def test_a_system_prompt_that_was_read_once_is_scored_the_same_there(weights: str) -> None:
    policy = policy_of("qwen2_5_vl", device="cuda", weights=weights, sampling=SLOW)
    for _ in range(2):
        decisions = policy.decide(many_pictures())
        assert policy.prefix.reused > 0
    assert policy.prefix.reads == 1
    with torch.no_grad():
        scores = policy.score(many_pictures(), [each.token_ids for each in decisions])
    for row, decision in enumerate(decisions):
        sampled = torch.tensor(decision.log_probs, device="cuda")
        gap = (scores.log_probs[row, : len(sampled)] - sampled).abs().max()
        assert float(gap) < (1e-3 if weights == "float32" else 0.1)


@pytest.mark.parametrize("checkpointing", ["off", "on"])
def test_the_learner_trains_it_there(checkpointing: str) -> None:
    policy = tiny_policy("qwen3_vl", device="cuda", gradient_checkpointing=checkpointing)
    task = Task("t/train/0", "Open the clock", "general", "t", "train", 0, (), "easy", 1)
    [seen, *_] = observations()
    trajectories = []
    for number, ending in enumerate((Ending.SUCCESS, Ending.STEP_LIMIT)):
        decisions = policy.decide([dataclasses.replace(seen, instruction=task.instruction)])
        verdict = Verdict(ending is Ending.SUCCESS, "made up", "test")
        screens = (seen.screen, seen.screen)
        trajectories.append(
            Trajectory(str(number), task, tuple(decisions), screens, ending, verdict, 0.0)
        )
    before = policy.weights()
    with torch.autocast("cuda", dtype=torch.bfloat16, cache_enabled=False):
        report = ARide(GradientStep(policy)).update(batch_of(trajectories))
    after = policy.weights()
    moved = [name for name in before if not torch.equal(before[name], after[name])]
    assert any(name.startswith("policy.") for name in moved)
    assert any(name.startswith("critic.heads") for name in moved)
    assert all(each.device.type == "cpu" for each in after.values())
    assert report.gradient_norms["policy"] > 0.0
