"""For each family: load, decide, a train step with LoRA, export, reload, the same answers."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tests.agent.made_up_screens import blocks
from tests.agent.tiny_models import BUILDERS, tiny_model
from tests.slow_params import mostly_slow

from distrl.agent.answer_sampling import SamplingSettings
from distrl.agent.loading import load_policy, open_policy
from distrl.agent.lora import LoraSettings
from distrl.agent.policy_weights import export_policy
from distrl.agent.vlm_policy import VlmPolicy
from distrl.agent.vlm_settings import VlmSettings
from distrl.records import Decision, Observation, Tap

OBSERVATIONS = [
    Observation("Add a note that says milk.", blocks(1), ()),
    Observation("Go home.", blocks(2, 200, 100), (Tap(0.5, 0.25),), (blocks(3),)),
]
TARGETS = ("tap 0.5 0.5", "home")
SETTINGS = VlmSettings(
    past_screens=1,
    lora=LoraSettings(rank=4),
    sampling=SamplingSettings(max_new_tokens=10),
)


def loss_of(policy: VlmPolicy) -> torch.Tensor:
    """How surprised the policy is by the answers that it should give."""
    answers = [policy.builder.answers.encode(text) for text in TARGETS]
    scores = policy.score(OBSERVATIONS, answers)
    return -(scores.log_probs * scores.token_mask).sum() / scores.token_mask.sum()


def train(policy: VlmPolicy, steps: int) -> list[float]:
    optimizer = torch.optim.Adam(policy.policy_parameters(), lr=3e-3)
    losses = []
    for _ in range(steps):
        loss = loss_of(policy)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(loss.item())
    return losses


def greedy(policy: VlmPolicy) -> list[Decision]:
    policy.sampling = SamplingSettings(max_new_tokens=10, greedy=True)
    return policy.decide(OBSERVATIONS)


@pytest.mark.parametrize("model_type", mostly_slow(BUILDERS, ("qwen2_5_vl",)))
def test_load_decide_train_export_reload(model_type: str, tmp_path: Path) -> None:
    policy = open_policy(tiny_model(model_type), SETTINGS)
    decisions = policy.decide(OBSERVATIONS)
    scores = policy.score(OBSERVATIONS, [decision.token_ids for decision in decisions])
    for row, decision in enumerate(decisions):
        sampled = torch.tensor(decision.log_probs)
        scored = scores.log_probs[row, scores.token_mask[row]].detach()
        torch.testing.assert_close(scored, sampled, atol=1e-4, rtol=0.0)

    before = greedy(policy)
    frozen = {n: p.clone() for n, p in policy.network.named_parameters() if not p.requires_grad}
    losses = train(policy, steps=3)
    assert losses[1] < losses[0] - 0.01  # one step of gradient already helps
    assert loss_of(policy).item() < losses[1]
    assert all(
        torch.equal(frozen[n], p) for n, p in policy.network.named_parameters() if n in frozen
    )

    export_policy(policy, tmp_path / "adapter")
    reloaded = load_policy(tiny_model(model_type), adapter=tmp_path / "adapter", greedy=True)
    trained = greedy(policy)
    assert greedy(reloaded) == trained
    assert [each.token_ids for each in trained] != [each.token_ids for each in before]
    assert sum(file.stat().st_size for file in (tmp_path / "adapter").iterdir()) < 300_000
