"""`kl_weight` through the wiring: the reference is the start model, also after a resume."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from tests.agent.tiny_models import tiny_model
from tests.agent.vlm_policies import screen
from tests.engine.tiny_runs import tiny_config
from tests.learning.test_learner_with_a_model import Published, episode

from distrl.agent.policy_weights import export_policy
from distrl.agent.reference_policy import WithoutAdapters
from distrl.agent.vlm_policy import VlmPolicy
from distrl.config.training_config import TrainingConfig
from distrl.engine.wiring import build_learner, build_policy, build_reference
from distrl.learning.learner import Learner
from distrl.learning.learner_report import LearnerReport
from distrl.records import Observation, Trajectory

TOGETHER = {"grpo": ("learning.learner.attempts_together=2",)}  # not one attempt drawn twice
KINDS = {"whole": (), "adapters": ("agent.policy.lora.rank=4",)}
EPISODES = 2
pytestmark = [pytest.mark.slow, pytest.mark.timeout(420)]
OBSERVATION = Observation("Open the clock", screen(0), ())


def config_of(folder: Path, kind: str, algorithm: str, kl_weight: float) -> TrainingConfig:
    torch.set_num_threads(1)
    return tiny_config(
        folder,
        tiny_model("qwen3_vl"),
        *KINDS[kind],
        *TOGETHER.get(algorithm, ()),
        f"learning.algorithm={algorithm}",
        f"learning.{algorithm}.kl_weight={kl_weight}",
        "learning.learner.mode=offline",
        "learning.corpus=made-up",
        f"learning.learner.batch_trajectories={EPISODES}",
        "learning.step.learning_rate=0.001",
    )


def episodes(config: TrainingConfig) -> list[Trajectory]:
    policy = build_policy(config)
    return [episode(policy, number) for number in range(EPISODES)]


def learner_of(config: TrainingConfig, made: Sequence[Trajectory] = ()) -> Learner:
    policy = build_policy(config)
    learner = build_learner(config, policy, deque(), Published())
    learner.preload(made)
    return learner


def divergences(learner: Learner, updates: int) -> list[float]:
    """The KL loss of each update, as it entered the total."""
    reports = [learner.step() for _ in range(updates)]
    return [each.losses["kl"] for each in reports if isinstance(each, LearnerReport)]


@pytest.mark.parametrize(
    ("kind", "algorithm"), [("whole", "a_ride"), ("adapters", "a_ride"), ("adapters", "grpo")]
)
@pytest.mark.slow
def test_it_is_zero_at_the_start_grows_and_pulls_back(
    tmp_path: Path, kind: str, algorithm: str
) -> None:
    config = config_of(tmp_path, kind, algorithm, 100.0)
    learner = learner_of(config, episodes(config))
    first, moved = divergences(learner, 2)  # the first step is the policy gradient's alone
    assert first == pytest.approx(0.0, abs=1e-9)
    assert moved > 1e-6
    noise = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in learner.policy.policy_parameters():
            parameter.add_(0.01 * torch.randn(parameter.shape, generator=noise))
    away, *back = divergences(learner, 4)
    assert away > 2 * moved
    assert back[-1] < 0.9 * away


@pytest.mark.parametrize("kind", KINDS)
def test_a_resumed_learner_has_the_reference_that_it_began_with(tmp_path: Path, kind: str) -> None:
    config = config_of(tmp_path, kind, "a_ride", 0.1)
    made = episodes(config)
    stored = {each.id: each for each in made}
    whole = learner_of(config, made)
    divergences(whole, 1)
    resumed = learner_of(config)
    assert resumed.load_state(whole.state_dict(), stored.get) == ()
    [further], [again] = divergences(whole, 1), divergences(resumed, 1)
    assert again == further > 1e-8


def test_adapters_are_disabled_for_the_reference_and_for_nothing_else(tmp_path: Path) -> None:
    config = config_of(tmp_path, "adapters", "a_ride", 0.1)
    policy = build_policy(config)
    [turn] = episode(policy, 0).decisions[:1]
    seen = [OBSERVATION]
    at_start = policy.score(seen, [turn.token_ids]).log_probs
    with torch.no_grad():
        for parameter in policy.policy_parameters():
            parameter.add_(0.1)
    reference = build_reference(config, policy)
    assert isinstance(reference, WithoutAdapters)
    moved = policy.score(seen, [turn.token_ids]).log_probs
    assert not torch.allclose(moved, at_start)
    assert torch.equal(reference.score(seen, [turn.token_ids]).log_probs, at_start)
    assert torch.equal(policy.score(seen, [turn.token_ids]).log_probs, moved)
    assert all(parameter.requires_grad for parameter in policy.policy_parameters())


def test_without_a_penalty_there_is_no_reference(tmp_path: Path) -> None:
    config = config_of(tmp_path, "whole", "a_ride", 0.0)
    assert build_reference(config, build_policy(config)) is None


def test_a_start_from_adapters_has_a_frozen_copy(tmp_path: Path) -> None:
    before = config_of(tmp_path, "adapters", "a_ride", 0.1)
    trained = build_policy(before)
    with torch.no_grad():
        for parameter in trained.policy_parameters():
            parameter.add_(0.1)
    export_policy(trained, tmp_path / "adapter")
    config = tiny_config(
        tmp_path,
        tiny_model("qwen3_vl"),
        f"agent.adapter={tmp_path / 'adapter'}",
        "learning.a_ride.kl_weight=0.1",
    )
    policy = build_policy(config)
    reference = build_reference(config, policy)
    assert isinstance(reference, VlmPolicy)
    assert reference is not policy
    assert list(reference.policy_parameters()) == []
    [turn] = episode(trained, 0).decisions[:1]
    seen = [OBSERVATION]
    wanted = trained.score(seen, [turn.token_ids]).log_probs
    assert torch.equal(reference.score(seen, [turn.token_ids]).log_probs, wanted)
