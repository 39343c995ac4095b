"""A-RIDE: it finds the best way from old data, and its gradients are those of its equations."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from benchmarks.small_world import REWARDS, SmallWorld, old_policy
from benchmarks.tabular_policy import TabularPolicy
from tests.learning.actor_critic_checks import (
    TurnFacts,
    assert_close,
    facts_of,
    gradients,
    learn_from_old_data,
    moved_policy,
    old_episodes,
    score_gradient,
)
from tests.learning.algorithms.algorithm_checks import (
    check_micro_batches,
    check_padding,
    check_policy_stays,
    check_report,
)
from torch import Tensor

from distrl.errors import InvalidSetting
from distrl.learning.algorithms.a_ride import ARide, ARideSettings
from distrl.learning.batch import Batch, batch_of
from distrl.learning.gradient_step import GradientStep, StepSettings

GAMMA, LAMBDA = 0.9, 0.8
PLAIN: dict[str, Any] = {
    "advantage": "signed",
    "discount": GAMMA,
    "retrace_lambda": LAMBDA,
    "entropy_weight": 0.0,
    "invalid_weight": 0.0,
}


def _a_ride(**settings: Any) -> Callable[[GradientStep], ARide]:
    return lambda step: ARide(step, ARideSettings(**{**PLAIN, **settings}))


def _batch(weights: list[float] | None = None) -> Batch:
    return batch_of(old_episodes(), REWARDS, weights)


def _facts(batch: Batch) -> tuple[TabularPolicy, list[TurnFacts]]:
    policy = moved_policy()
    return policy, facts_of(policy, batch, GAMMA, LAMBDA)


# It learns ---------------------------------------------------------------------------------------


@pytest.mark.seeds(1, 3)
def test_it_converges_to_the_optimum_from_the_data_of_an_old_policy(seed: int) -> None:
    settings = ARideSettings(discount=GAMMA, advantage="signed")
    learned = learn_from_old_data(lambda step: ARide(step, settings), seed)
    assert learned.regret < 0.01
    assert learned.value_error < 0.05
    assert learned.success_rate > 0.94


@pytest.mark.slow
@pytest.mark.seeds(1, 3)
def test_the_same_run_without_correction_does_not(seed: int) -> None:
    settings = ARideSettings(discount=GAMMA, advantage="signed", ratio_level="none")
    learned = learn_from_old_data(lambda step: ARide(step, settings), seed)
    assert learned.regret > 0.1
    assert learned.value_error > 0.5
    assert learned.success_rate < 0.85
    assert learned.takes_shortcut < 0.05


@pytest.mark.slow
def test_the_equations_as_printed_do_not_either() -> None:
    settings = ARideSettings(discount=GAMMA, advantage="signed", as_printed=True)
    learned = learn_from_old_data(lambda step: ARide(step, settings), seed=0)
    assert learned.regret > 0.1
    assert learned.takes_shortcut < 0.1


# Its gradients are those of the equations --------------------------------------------------------


@pytest.mark.parametrize("cap", [0.5, 1.0, 3.0])
def test_the_policy_moves_by_ratio_times_advantage(cap: float) -> None:
    batch = _batch()
    policy, facts = _facts(batch)
    weights = [min(cap, fact.ratio) * fact.advantage / len(facts) for fact in facts]
    wanted = -score_gradient(policy, facts, weights)
    found = gradients(_a_ride(ratio_cap=cap), batch)["policy"]
    torch.testing.assert_close(found, wanted, atol=1e-7, rtol=0.0)
    assert float(found.abs().max()) > 1e-3


@pytest.mark.parametrize("cap", [0.5, 1.0, 3.0])
def test_each_head_moves_to_the_target_by_the_ratio_of_its_step(cap: float) -> None:
    batch = _batch()
    policy, facts = _facts(batch)
    wanted = torch.zeros_like(policy.value_table)
    for fact in facts:
        heads = policy.value_table[fact.state].detach().sigmoid()
        wanted[fact.state] += min(cap, fact.ratio) * (heads - fact.target) / len(facts)
    found = gradients(_a_ride(value_ratio_cap=cap), batch)["values"]
    torch.testing.assert_close(found, wanted, atol=1e-7, rtol=0.0)


@pytest.mark.parametrize(("kind", "limit"), [("squared", 9.0), ("huber", 1.0)])
def test_regression_moves_the_heads_by_their_slope(kind: str, limit: float) -> None:
    batch = _batch()
    policy, facts = _facts(batch)
    wanted = torch.zeros_like(policy.value_table)
    for fact in facts:
        heads = policy.value_table[fact.state].detach().sigmoid()
        slope = (heads - fact.target).clamp(-limit, limit) * heads * (1 - heads)
        wanted[fact.state] += min(1.0, fact.ratio) * slope / len(facts)
    found = gradients(_a_ride(value_loss=kind), batch)["values"]
    torch.testing.assert_close(found, wanted, atol=1e-7, rtol=0.0)


def test_success_as_the_target_takes_outcomes_at_face_value() -> None:
    batch = _batch()
    policy, facts = _facts(batch)
    wanted = torch.zeros_like(policy.value_table)
    for fact in facts:
        heads = policy.value_table[fact.state].detach().sigmoid()
        wanted[fact.state] += (heads - float(fact.success)) / len(facts)
    found = gradients(_a_ride(value_target="success"), batch)["values"]
    torch.testing.assert_close(found, wanted, atol=1e-7, rtol=0.0)


def test_policy_terms_leave_the_heads_alone_and_the_value_term_the_policy() -> None:
    batch = _batch()
    everything = _a_ride(entropy_weight=0.3, invalid_weight=0.3, value_weight=1.0)
    no_value = _a_ride(entropy_weight=0.3, invalid_weight=0.3, value_weight=0.0)
    with_it, without = gradients(everything, batch), gradients(no_value, batch)
    assert float(without["values"].abs().max()) == 0.0
    torch.testing.assert_close(with_it["policy"], without["policy"], atol=0.0, rtol=0.0)
    only_value = gradients(_a_ride(), batch)
    torch.testing.assert_close(with_it["values"], only_value["values"], atol=0.0, rtol=0.0)


def test_states_and_answers_that_nobody_met_get_no_gradient() -> None:
    batch = _batch()
    policy, facts = _facts(batch)
    met = torch.zeros(policy.logits.shape[:2], dtype=torch.bool)
    for fact in facts:
        for place in range(len(fact.tokens)):
            met[fact.state, policy.nodes[fact.tokens[:place]]] = True
    assert not bool(met.all())
    found = gradients(_a_ride(entropy_weight=0.1, invalid_weight=0.1), batch)["policy"]
    assert float(found[~met].abs().sum()) == 0.0
    assert bool((found[met].abs().sum(-1) > 0.0).all())


def test_the_invalid_term_has_the_gradient_of_the_share_of_invalid_answers() -> None:
    batch = _batch()
    policy, facts = _facts(batch)
    weights = [min(1.0, fact.ratio) * fact.invalid / len(facts) for fact in facts]
    assert sum(weights) > 0.0
    plain = gradients(_a_ride(), batch)["policy"]
    found = gradients(_a_ride(invalid_weight=0.7), batch)["policy"] - plain
    torch.testing.assert_close(
        found, 0.7 * score_gradient(policy, facts, weights), atol=1e-7, rtol=0
    )


def test_the_penalty_makes_invalid_answers_rarer() -> None:
    batch = batch_of(SmallWorld().episodes(old_policy(), 100, 3), REWARDS)
    rates = {}
    for weight in (0.0, 1.0):
        policy = old_policy()
        step = GradientStep(policy, StepSettings(learning_rate=0.05))
        algorithm = _a_ride(invalid_weight=weight, value_weight=0.0)(step)
        for _ in range(20):
            algorithm.update(batch)
        invalid = [tokens not in policy.answers for tokens in policy.endings]
        rates[weight] = float(policy.answer_probabilities()[:, invalid].sum(1).mean())
    assert rates[1.0] < 0.6 * rates[0.0]


def test_the_entropy_term_has_the_gradient_of_the_entropy() -> None:
    batch = _batch()
    policy, facts = _facts(batch)
    plain = gradients(_a_ride(), batch)["policy"]
    found = gradients(_a_ride(entropy_weight=0.5), batch)["policy"] - plain
    wanted = torch.zeros_like(policy.logits)
    for fact in facts:
        for place in range(len(fact.tokens)):
            node = policy.nodes[fact.tokens[:place]]
            p = policy.logits[fact.state, node].detach().softmax(-1)
            entropy = -(p * p.log()).sum()
            wanted[fact.state, node] += 0.5 * p * (p.log() + entropy) / len(facts)  # −β·∂ℍ/∂logit
    torch.testing.assert_close(found, wanted, atol=1e-9, rtol=0.0)


def test_filtered_advantages_imitate_the_steps_above_the_threshold() -> None:
    batch = _batch()
    policy, facts = _facts(batch)
    above = [fact.advantage > 0.05 for fact in facts]
    assert 0 < sum(above) < len(facts)
    weights = [min(1.0, f.ratio) * kept / len(facts) for f, kept in zip(facts, above, strict=True)]
    found = gradients(_a_ride(advantage="filtered", advantage_threshold=0.05), batch)["policy"]
    torch.testing.assert_close(found, -score_gradient(policy, facts, weights), atol=1e-7, rtol=0)


@pytest.mark.parametrize(
    ("name", "level"),
    [
        ("none", lambda ratio, tokens: 1.0),
        ("turn", lambda ratio, tokens: ratio),
        ("length_normalised", lambda ratio, tokens: ratio ** (1 / tokens)),
    ],
)
def test_a_level_holds_for_the_traces_the_critic_and_the_policy(
    name: str, level: Callable[[float, int], float]
) -> None:
    batch, policy = _batch(), moved_policy()
    facts = facts_of(policy, batch, GAMMA, LAMBDA, level)
    weights = [min(1.0, fact.ratio) * fact.advantage / len(facts) for fact in facts]
    heads = torch.zeros_like(policy.value_table)
    for fact in facts:
        off = policy.value_table[fact.state].detach().sigmoid() - fact.target
        heads[fact.state] += min(1.0, fact.ratio) * off / len(facts)
    wanted = {"policy": -score_gradient(policy, facts, weights), "values": heads}
    assert_close(gradients(_a_ride(ratio_level=name), batch), wanted, atol=1e-7)


def test_levels_differ_as_they_should() -> None:
    batch = _batch()
    policy, _ = _facts(batch)
    levels = ("none", "token", "turn", "length_normalised")
    found = {level: gradients(_a_ride(ratio_level=level), batch) for level in levels}
    for one, other in (("none", "turn"), ("token", "turn"), ("turn", "length_normalised")):
        assert float((found[one]["policy"] - found[other]["policy"]).abs().max()) > 1e-3
    torch.testing.assert_close(found["token"]["values"], found["turn"]["values"])  # turns trace
    on_policy = batch_of(SmallWorld().episodes(policy, 12, 0), REWARDS)
    same = {level: gradients(_a_ride(ratio_level=level), on_policy) for level in levels}
    for level in levels:
        assert_close(same[level], same["none"], atol=1e-6)


def test_the_reference_pulls_and_not_once_it_is_reached() -> None:
    batch, reference = _batch(), moved_policy(7)
    settings = ARideSettings(**{**PLAIN, "kl_weight": 2.0})
    plain = gradients(_a_ride(), batch, moved_policy())["policy"]
    pulled = gradients(lambda step: ARide(step, settings, reference), batch)["policy"]
    assert float((pulled - plain).abs().max()) > 1e-3
    there = gradients(lambda step: ARide(step, settings, moved_policy()), batch)["policy"]
    torch.testing.assert_close(there, plain, atol=1e-12, rtol=0.0)
    policy = moved_policy()
    step = GradientStep(policy, StepSettings(learning_rate=0.05))
    strong = ARideSettings(**{**PLAIN, "kl_weight": 100.0})
    distance = [_distance(policy, reference)]
    for _ in range(40):
        ARide(step, strong, reference).update(batch)
        distance.append(_distance(policy, reference))
    assert distance[-1] < 0.6 * distance[0]


def _distance(one: TabularPolicy, other: TabularPolicy) -> float:
    return float(np.abs(one.answer_probabilities() - other.answer_probabilities()).sum())


# Weights, splits, padding, warm-up ---------------------------------------------------------------


def test_the_weights_of_prioritised_draws_enter_every_loss() -> None:
    assert ARide(GradientStep(moved_policy())).draws == "priority"
    full = _a_ride(entropy_weight=0.2, invalid_weight=0.2)
    count = len(old_episodes())
    first = [1.0] + [0.0] * (count - 1)
    rest = [0.0] + [1.0] * (count - 1)
    parts = [gradients(full, _batch(weights)) for weights in (first, rest)]
    together = gradients(full, _batch([0.25] + [3.0] * (count - 1)))
    wanted = {name: 0.25 * parts[0][name] + 3.0 * parts[1][name] for name in together}
    assert_close(together, wanted)
    assert all(float(part.abs().max()) > 1e-4 for part in parts[0].values())


ALL_TERMS: dict[str, Any] = {"entropy_weight": 0.1, "invalid_weight": 0.1}
VARIANTS: list[dict[str, Any]] = [
    {},
    {"averaging": "per_token"},
    {"averaging": "per_turn", "ratio_level": "token"},
    {"ratio_level": "length_normalised", "advantage": "filtered"},
    {"value_target": "success", "as_printed": True},
    {"trajectory_share": 0.3},
]


@pytest.mark.parametrize("variant", VARIANTS)
def test_splits_padding_and_reports_are_in_order(variant: dict[str, Any]) -> None:
    make = _a_ride(**ALL_TERMS, **variant)
    check_micro_batches(make)
    check_padding(make)
    check_report(make)


def test_the_policy_does_not_move_while_the_critic_warms_up() -> None:
    check_policy_stays(_a_ride(**ALL_TERMS))


def test_the_order_of_trajectories_does_not_matter() -> None:
    one, other = batch_of(old_episodes(), REWARDS), batch_of(old_episodes()[::-1], REWARDS)
    assert_close(gradients(_a_ride(**ALL_TERMS), one), gradients(_a_ride(**ALL_TERMS), other))


def test_the_rewarded_last_step_moves_the_policy() -> None:
    success = next(each for each in old_episodes(80) if each.success)
    batch = batch_of([success], REWARDS)
    found = gradients(_a_ride(), batch)["policy"]
    policy, last = moved_policy(), success.decisions[-1]
    state = int(success.screens[-2].pixels[0, 0, 0])
    for place, token in enumerate(last.token_ids):
        assert float(found[state, policy.nodes[last.token_ids[:place]], token]) < 0.0  # likelier


# Reports and settings ----------------------------------------------------------------------------


def test_on_policy_nothing_is_clipped_and_every_sample_counts() -> None:
    policy = moved_policy()
    batch = batch_of(SmallWorld().episodes(policy, 20, 1), REWARDS)
    report = _a_ride()(GradientStep(policy)).update(batch)
    assert report.metrics["clip_fraction"] == 0.0
    assert report.metrics["effective_sample_share"] == pytest.approx(1.0)
    for name in ("ratio_p05", "ratio_p50", "ratio_p95", "ratio_max"):
        assert report.metrics[name] == pytest.approx(1.0, abs=1e-5)


def test_the_report_says_what_the_equations_say() -> None:
    batch = _batch()
    policy, facts = _facts(batch)
    report = _a_ride(**ALL_TERMS)(GradientStep(policy)).update(batch)

    def turns(array: Tensor) -> list[float]:
        return batch.gather(array).tolist()

    assert turns(report.ratios) == pytest.approx([fact.ratio for fact in facts], rel=1e-5)
    assert turns(report.advantages) == pytest.approx([f.advantage for f in facts], abs=1e-6)
    assert report.metrics["invalid_rate"] == pytest.approx(np.mean([f.invalid for f in facts]))
    positive = np.mean([fact.advantage > 0 for fact in facts])
    assert report.metrics["positive_advantages"] == pytest.approx(positive)
    values = np.array([fact.target - fact.advantage for fact in facts])
    brier = np.mean((values - np.array(turns(report.outcomes))) ** 2)  # in the same units
    assert report.metrics["brier_score"] == pytest.approx(brier, abs=1e-6)
    targets = np.array([fact.target for fact in facts])
    explained = 1 - np.var(targets - values) / np.var(targets)
    assert report.metrics["explained_variance"] == pytest.approx(explained, abs=1e-5)
    assert set(report.losses) == {"policy", "value", "entropy", "invalid"}
    assert targets.min() >= 0.0
    assert targets.max() <= 1.0


@pytest.mark.parametrize(
    "setting",
    [
        {"discount": 1.1},
        {"retrace_lambda": -0.1},
        {"ratio_cap": 0.0},
        {"value_ratio_cap": float("nan")},
        {"entropy_weight": -0.1},
        {"invalid_weight": float("inf")},
        {"kl_weight": -1.0},
        {"value_weight": -1.0},
        {"advantage_threshold": float("nan")},
    ],
)
def test_settings_out_of_range_are_refused_by_name(setting: dict[str, float]) -> None:
    with pytest.raises(InvalidSetting, match=rf"ARideSettings\.{next(iter(setting))}"):
        ARideSettings(**setting)  # type: ignore[arg-type]


def test_a_divergence_needs_something_to_diverge_from() -> None:
    settings = dataclasses.replace(ARideSettings(), kl_weight=0.1)
    with pytest.raises(InvalidSetting, match="without a reference"):
        ARide(GradientStep(moved_policy()), settings)
