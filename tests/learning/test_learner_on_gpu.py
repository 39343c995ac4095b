"""The learner with its policy on a GPU, in full precision and in half."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import torch
from benchmarks.learner_profile import corpus, trajectory
from benchmarks.pixel_policy import PixelPolicy
from torch import Tensor

from distrl.learning.algorithms.a_ride import ARide
from distrl.learning.algorithms.algorithm import Algorithm
from distrl.learning.algorithms.digirl import Digirl
from distrl.learning.algorithms.filtered_bc import FilteredBc
from distrl.learning.algorithms.grpo import Grpo
from distrl.learning.algorithms.ppo import Ppo, PpoSettings
from distrl.learning.algorithms.vtrace import VTraceActorCritic
from distrl.learning.batch import batch_of
from distrl.learning.checkpoint import CheckpointFolder
from distrl.learning.gradient_step import GradientStep, StepSettings
from distrl.learning.learner import Learner
from distrl.learning.learner_report import LearnerReport
from distrl.learning.learner_settings import LearnerSettings, Precision
from distrl.learning.throughput import peak_flops
from distrl.records import Trajectory
from distrl.replay.buffer.pacing import Pacing
from distrl.replay.buffer.replay_buffer import ReplayBuffer

pytestmark = pytest.mark.gpu


class Published:
    def __init__(self) -> None:
        self.weights: list[Mapping[str, Tensor]] = []

    def publish(self, weights: Mapping[str, Tensor], version: int) -> None:
        self.weights.append(weights)


def learner(precision: Precision) -> tuple[Learner, PixelPolicy, list[Trajectory]]:
    policy = PixelPolicy(width=64).cuda()
    step = GradientStep(policy)
    made = Learner(
        policy,
        Ppo(step, PpoSettings(epochs=2)),  # a second pass after the optimiser has moved
        step,
        ReplayBuffer(),
        Pacing(1.0),
        deque(),
        Published(),
        LearnerSettings(mode="offline", precision=precision, updates_per_publish=1),
    )
    data = corpus(policy, 64, 64)
    made.preload(data)
    return made, policy, data


def update(of: Learner) -> LearnerReport:
    report = of.step()
    assert isinstance(report, LearnerReport)
    return report


def test_half_precision_moves_every_weight() -> None:
    """Weights that were narrowed for a pass without gradients must not be used for one with."""
    made, policy, _ = learner("bf16")
    before = policy.weights()
    report = update(made)
    after = policy.weights()
    still = [name for name in before if torch.equal(before[name], after[name])]
    assert still == ["instruction"]  # PPO has no critic of instructions
    assert report.gradient_norms["policy"] > 0.0
    assert all(tensor.dtype == torch.float32 for tensor in after.values())


def test_half_precision_is_near_full_precision() -> None:
    half, full = (update(learner(precision)[0]) for precision in ("bf16", "full"))
    assert half != full
    for name, loss in full.losses.items():
        assert half.losses[name] == pytest.approx(loss, abs=0.02)
    assert full.ratio_quantiles[3] == pytest.approx(1.0, abs=1e-3)
    assert half.ratio_quantiles[3] == pytest.approx(1.0, abs=0.1)


def test_a_resumed_run_goes_on_on_the_gpu(tmp_path: Path) -> None:
    first, _, data = learner("full")
    folder = CheckpointFolder(tmp_path)
    for _ in range(3):
        update(first)
    folder.save(first)
    second, policy, _ = learner("full")
    assert folder.restore(second, {each.id: each for each in data}.get) == ()
    torch.cuda.manual_seed(5)
    wanted = update(first)
    found = update(second)
    assert found.learner_status.updates == wanted.learner_status.updates == 4
    for name, loss in wanted.losses.items():
        assert found.losses[name] == pytest.approx(loss, rel=1e-4, abs=1e-6)
    assert policy.instruction.is_cuda


@pytest.mark.parametrize("make", [ARide, VTraceActorCritic, Ppo, Grpo, Digirl, FilteredBc])
def test_every_algorithm_does_on_a_gpu_what_it_does_on_the_cpu(
    make: Callable[[GradientStep], Algorithm],
) -> None:
    here, there = PixelPolicy(width=32), PixelPolicy(width=32)
    there.load_weights(here.weights(), 0)
    there.cuda()
    batch = batch_of([trajectory(here, 64, 64, number) for number in range(6)])
    settings = StepSettings(micro_batch_turns=17)
    wanted = make(GradientStep(here, settings)).update(batch)
    found = make(GradientStep(there, settings)).update(batch)
    assert found.losses == pytest.approx(wanted.losses, rel=1e-3, abs=1e-5)
    assert found.gradient_norms == pytest.approx(wanted.gradient_norms, rel=1e-3, abs=1e-5)
    assert found.advantages.device.type == found.td_errors.device.type == "cpu"
    torch.testing.assert_close(found.advantages, wanted.advantages, rtol=1e-3, atol=1e-5)


def test_the_share_of_the_peak_is_known_where_the_gpu_is() -> None:
    report = update(learner("full")[0])
    known = peak_flops(torch.device("cuda"))
    assert report.model_tokens_per_second is not None
    if known is None:
        assert report.peak_share is None
    else:
        assert report.peak_share is not None
        assert 0.0 < report.peak_share < 1.0
