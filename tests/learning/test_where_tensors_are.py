"""Batches, surveys and reports are on the CPU, scores where the policy is; nobody mixes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

import pytest
import torch
from benchmarks.small_world import ANSWERS, STATE_NAMES, VOCABULARY, new_policy
from tests.learning.algorithms.algorithm_checks import recorded
from tests.learning.elsewhere import Elsewhere, PolicyElsewhere
from torch import Tensor

from distrl.learning.algorithms.a_ride import ARide, ARideSettings
from distrl.learning.algorithms.algorithm import Algorithm
from distrl.learning.algorithms.clipped_objective import ClipSettings
from distrl.learning.algorithms.digirl import Digirl
from distrl.learning.algorithms.filtered_bc import FilteredBc
from distrl.learning.algorithms.grpo import Grpo, GrpoSettings
from distrl.learning.algorithms.ppo import Ppo, PpoSettings
from distrl.learning.algorithms.vtrace import VTraceActorCritic
from distrl.learning.gradient_step import GradientStep, StepSettings

Make = Callable[[GradientStep], Algorithm]


def _policy_elsewhere() -> PolicyElsewhere:
    return PolicyElsewhere(len(STATE_NAMES), VOCABULARY, ANSWERS)


ALGORITHMS: dict[str, Make] = {
    "a_ride": ARide,
    "a_ride, all terms": lambda step: ARide(
        step,
        ARideSettings(kl_weight=0.1, ratio_level="token", value_loss="huber"),
        reference=_policy_elsewhere(),
    ),
    "vtrace": VTraceActorCritic,
    "ppo": Ppo,
    "ppo, decoupled": lambda s: Ppo(s, PpoSettings(objective=ClipSettings(decoupled=True))),
    "grpo": lambda step: Grpo(step, GrpoSettings(kl_weight=0.1), reference=_policy_elsewhere()),
    "digirl": Digirl,
    "filtered_bc": FilteredBc,
}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_an_algorithm_brings_what_it_made_to_where_the_policy_is(name: str) -> None:
    make, batch = ALGORITHMS[name], recorded()
    there, here = _policy_elsewhere(), new_policy()
    settings = StepSettings(micro_batch_turns=7)
    report = make(GradientStep(there, settings)).update(batch)
    same = make(GradientStep(here, settings)).update(batch)
    assert report.losses == pytest.approx(same.losses)
    for part, wanted in here.weights().items():
        assert torch.equal(there.weights()[part], wanted)
    shown = [getattr(report, each.name) for each in fields(report)]
    assert not any(isinstance(each, Elsewhere) for each in shown)


def test_a_survey_comes_back_to_the_cpu() -> None:
    current = GradientStep(_policy_elsewhere()).score_batch(recorded())
    assert not any(isinstance(getattr(current, each.name), Elsewhere) for each in fields(current))


def test_elsewhere_is_really_elsewhere() -> None:
    there = torch.ones(3).as_subclass(Elsewhere)
    with pytest.raises(RuntimeError, match="two devices"):
        there + torch.ones(3)
    with pytest.raises(RuntimeError, match="two devices"):
        torch.where(torch.ones(3).bool(), there, 0.0)
    with pytest.raises(RuntimeError, match="two devices"):
        torch.stack([there, torch.ones(3)])
    assert isinstance(there + torch.tensor(1.0), Elsewhere)  # a number may go everywhere
    assert isinstance(torch.ones(3).to(there) + there, Elsewhere)
    assert type(there.cpu() + torch.ones(3)) is Tensor
