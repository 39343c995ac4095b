"""The learner on the small world, with real trajectories, a real replay and A-RIDE."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from benchmarks.small_world import REWARDS, new_policy
from numpy.typing import NDArray
from tests.learning.small_circle import DISCOUNT, SmallCircle, a_ride, ask

from distrl.errors import InvalidSetting, UsageError
from distrl.learning.algorithms.a_ride import ARide
from distrl.learning.algorithms.algorithm import Algorithm, update_report
from distrl.learning.algorithms.digirl import Digirl
from distrl.learning.batch import batch_of
from distrl.learning.gradient_step import GradientStep, UpdateAbandoned
from distrl.learning.learner import Learner
from distrl.learning.learner_report import LearnerReport, Waiting
from distrl.learning.learner_settings import LearnerSettings
from distrl.processor import bf16_obstacle
from distrl.records import Decision, Ending, Trajectory
from distrl.replay.buffer.pacing import Pacing
from distrl.replay.buffer.priority import PriorityWeights, priority
from distrl.weights.staleness import StalenessLimit


def priorities(circle: SmallCircle) -> NDArray[np.float64]:
    return np.asarray(circle.learner.replay.state_dict()["priorities"])


# The circle ---------------------------------------------------------------------------------------


@pytest.mark.seeds(1, 4)
def test_success_rises(seed: int) -> None:
    circle = SmallCircle(seed)
    assert circle.success_rate() < 0.05
    circle.rounds(0, 120)
    assert circle.success_rate() > 0.8


@pytest.mark.seeds(1, 3)
def test_a_fixed_corpus_is_enough_offline(seed: int) -> None:
    circle = SmallCircle(seed, mode="offline")
    circle.learner.preload(circle.collect("corpus", 300))
    waiting = len(circle.arrivals)
    for _ in range(150):
        ask(circle)
    assert circle.success_rate() > 0.6
    assert len(circle.arrivals) == waiting  # nobody looked at what arrived
    assert circle.learner.replay.gauges()["inserted"] == 300


def test_offline_without_a_corpus_is_refused() -> None:
    with pytest.raises(UsageError, match="preload a corpus"):
        SmallCircle(mode="offline").learner.step()


def test_offline_to_online_begins_with_the_corpus_and_goes_on_with_arrivals() -> None:
    pacing = Pacing(samples_per_insert=4.0, minimum_fill=8)
    circle = SmallCircle(mode="offline_to_online", offline_updates=5, pacing=pacing)
    circle.learner.preload(circle.world.episodes(circle.collector, 40, "corpus"))
    circle.collect("early", 4)
    for _ in range(5):
        ask(circle)
    assert len(circle.arrivals) == 4
    assert (pacing.inserted, pacing.sampled) == (0, 0)  # a corpus pays for nothing
    assert isinstance(circle.learner.step(), Waiting)
    assert not circle.arrivals
    circle.collect("late", 4)
    assert ask(circle).learner_status.replay["trajectories"] == 48
    assert (pacing.inserted, pacing.sampled) == (8, 16)


def test_an_old_corpus_is_taken_and_does_not_age_the_learner() -> None:
    circle = SmallCircle(mode="offline", updates_per_publish=1)
    circle.collector.load_weights(circle.policy.weights(), 70)
    circle.learner.preload(circle.world.episodes(circle.collector, 20, "corpus"))
    assert ask(circle).mean_staleness == 0.0
    assert circle.versions == [1]


# What arrives -------------------------------------------------------------------------------------


def test_what_is_too_old_is_refused_and_counted() -> None:
    circle = SmallCircle(staleness=StalenessLimit(at_start=0, at_arrival=2), updates_per_publish=1)
    old = circle.world.episodes(circle.collector, 5, "old")
    circle.rounds(0, 8)
    assert circle.learner.version > 2
    inserted = circle.learner.pacing.inserted
    circle.arrivals.extend(old)
    fresh = circle.collect("fresh", 3)
    learner_status = ask(circle).learner_status
    assert learner_status.arrivals["stale"] == 5
    assert circle.learner.pacing.inserted == inserted + 3
    assert not any(each.id in circle.learner.replay for each in old)
    assert all(each.id in circle.learner.replay for each in fresh)


def test_the_report_says_how_old_the_batch_is() -> None:
    circle = SmallCircle(updates_per_publish=1, pacing=Pacing(1.0, minimum_fill=20))
    circle.collect("all", 20)  # all of them with version 0
    ages = [ask(circle).mean_staleness for _ in range(4)]
    assert ages == [0.0, 1.0, 2.0, 3.0]
    report = ask(circle)
    assert report.gauges()["staleness/3_to_4"] == sum(report.staleness) == 16


def test_nothing_that_arrives_is_lost_from_the_accounts() -> None:
    circle = SmallCircle(byte_limit=60_000, staleness=StalenessLimit(0, 0))
    made = circle.collect("judged", 20)
    lost = [replace(each, id=f"lost/{each.id}", ending=Ending.DEVICE_LOST) for each in made[:3]]
    empty = replace(made[0], id="empty", decisions=(), screens=made[0].screens[:1])
    large = replace(made[0], id="large", notes=("x" * 70_000,))
    unjudged = replace(made[0], id="unjudged", verdict=None)
    wordy = replace(made[0].decisions[0], log_probs=(-0.1,) * 9)
    bad = replace(made[0], id="bad", decisions=(wordy, *made[0].decisions[1:]))
    circle.arrivals.extend([*lost, empty, large, unjudged, bad, made[19], made[19]])
    ask(circle)
    counted = circle.learner.arrivals
    assert counted == {
        "stale": 0,
        "stored": 20,
        "resent": 2,
        "not_judged": 4,
        "empty": 1,
        "malformed": 1,
        "too_large": 1,
    }
    assert sum(counted.values()) == 29
    assert circle.learner.pacing.inserted == 20
    replay = circle.learner.replay.gauges()
    assert replay["trajectories"] + replay["evicted"] == 20


# The update ---------------------------------------------------------------------------------------


def test_an_abandoned_update_moves_nothing_and_is_drawn_again() -> None:
    circle, calls = SmallCircle(refresh_trajectories=0), list[int]()
    circle.collect("all", 20)

    def abandon() -> None:
        calls.append(1)
        if len(calls) == 2:  # the forward pass is done, the backward pass is not
            raise UpdateAbandoned

    circle.learner.between = abandon
    before = circle.policy.weights()
    assert isinstance(circle.learner.step(), Waiting)
    assert all(torch.equal(each, circle.policy.weights()[name]) for name, each in before.items())
    assert (circle.learner.updates, circle.learner.pacing.sampled) == (0, 0)
    circle.learner.score_batch(batch_of(circle.world.episodes(circle.collector, 2, "x"), REWARDS))
    assert len(calls) == 2  # only an update is abandoned
    assert ask(circle).learner_status.updates == 1


def test_warming_up_moves_the_critic_alone() -> None:
    circle = SmallCircle(warm_up_updates=3, updates_per_publish=1)
    circle.collect("all", 20)
    before = circle.policy.weights()
    for _ in range(3):
        assert not ask(circle).policy_moved
    warmed = circle.policy.weights()
    assert torch.equal(warmed["logits"], before["logits"])
    assert not torch.equal(warmed["values"], before["values"])
    assert circle.versions == []
    assert ask(circle).policy_moved
    assert not torch.equal(circle.policy.weights()["logits"], before["logits"])
    assert circle.versions == [1]


def test_the_same_seed_gives_the_same_run_and_another_one_does_not() -> None:
    runs = [SmallCircle(0, seed=draws).rounds(0, 10) for draws in (5, 5, 6)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_beta_corrects_for_the_preference_of_the_draws() -> None:
    plain, corrected = (SmallCircle(beta=beta) for beta in (0.0, 1.0))
    for circle in (plain, corrected):
        circle.collect("all", 40)
        ask(circle)  # the first draws have no preference, so there is nothing to correct
    assert torch.equal(plain.policy.logits, corrected.policy.logits)
    ask(plain)
    ask(corrected)
    assert not torch.equal(plain.policy.logits, corrected.policy.logits)


# Priorities ---------------------------------------------------------------------------------------


def test_priorities_change_with_what_is_learned() -> None:
    circle = SmallCircle(refresh_trajectories=0)
    circle.collect("all", 60)
    ask(circle)
    first = priorities(circle)
    drawn = circle.learner.replay.state_dict()["times_drawn"] > 0
    assert (first[~drawn] == 1.0).all()  # newcomers' priority
    assert (first[drawn] != 1.0).all()
    ask(circle)
    assert (priorities(circle) != first).any()


def test_a_slice_of_the_rest_is_refreshed_until_all_were() -> None:
    circle = SmallCircle(refresh_trajectories=10, batch_trajectories=1)
    circle.collect("all", 60)
    touched = []
    for _ in range(6):
        ask(circle)
        touched.append(int((priorities(circle) != 1.0).sum()))
    assert all(10 <= now <= 11 * (turn + 1) for turn, now in enumerate(touched))
    assert touched[-1] == 60


@pytest.mark.parametrize(("make", "discount"), [(a_ride, DISCOUNT), (Digirl, 1.0)])
def test_refreshed_and_drawn_priorities_are_what_the_policy_thinks(
    make: Callable[[GradientStep], Algorithm], discount: float
) -> None:
    """By the discount of the algorithm, both of them: they are compared with each other."""
    circle = SmallCircle(
        make=make,
        draws="priority",
        refresh_trajectories=30,
        learning_rate=1e-12,
        critic_learning_rate=1e-12,
    )
    made = circle.collect("all", 30)
    ask(circle)
    batch = batch_of(made, REWARDS)
    current = GradientStep(circle.policy).score_batch(batch)
    nothing = torch.zeros_like(batch.rewards)
    found = update_report(batch, current, nothing, {}, {}, discount=discount)
    wanted = priority(
        found.td_errors.abs(), found.ratios, found.entropies, batch.mask, PriorityWeights()
    )
    np.testing.assert_allclose(priorities(circle), wanted, rtol=1e-5)
    assert len(set(wanted.round(6))) > 3


def drawn_with_one_far_ahead(circle: SmallCircle) -> np.ndarray:
    """How often each was drawn for a second update, where the priority of the first is huge."""
    circle.collect("all", 30)
    ask(circle)
    before = circle.learner.replay.state_dict()["times_drawn"]
    circle.learner.replay.update_priorities([0], [1e15])
    ask(circle)
    times: np.ndarray = circle.learner.replay.state_dict()["times_drawn"] - before
    return times


def test_who_draws_uniformly_looks_at_no_priority_and_refreshes_none() -> None:
    circle = SmallCircle(make=Digirl, refresh_trajectories=30, batch_trajectories=8)
    drawn = drawn_with_one_far_ahead(circle)
    assert int((drawn > 0).sum()) > 4
    never = circle.learner.replay.state_dict()["times_drawn"][1:] == 0
    assert (priorities(circle)[1:][never] == 1.0).all()
    assert never.any()


@pytest.mark.parametrize(
    ("make", "draws"), [(a_ride, "algorithm"), (Digirl, "priority"), (a_ride, "uniform")]
)
def test_a_setting_can_take_the_draws_from_the_algorithm(
    make: Callable[[GradientStep], Algorithm], draws: str
) -> None:
    drawn = drawn_with_one_far_ahead(SmallCircle(make=make, draws=draws, batch_trajectories=16))
    assert drawn[0] < 8 if draws == "uniform" else drawn[0] == 16


# Publishing ---------------------------------------------------------------------------------------


def test_versions_only_grow() -> None:
    circle = SmallCircle(updates_per_publish=3)
    reports = [each for each in circle.rounds(0, 25) if isinstance(each, LearnerReport)]
    assert circle.versions == list(range(1, len(reports) // 3 + 1))
    assert [each.published for each in reports[:6]] == [False, False, True] * 2
    assert reports[-1].learner_status.version == circle.versions[-1]


def test_a_version_that_was_out_before_a_restart_is_not_given_again() -> None:
    circle = SmallCircle(updates_per_publish=1)
    circle.collector.load_weights(circle.policy.weights(), 7)  # by the learner before this one
    circle.collect("all", 20)
    report = ask(circle)
    assert report.mean_staleness == 0.0
    assert circle.versions == [8]


def test_published_weights_are_the_publishers_own() -> None:
    circle = SmallCircle(updates_per_publish=1)
    circle.rounds(0, 8)
    first = {name: tensor.clone() for name, tensor in circle.published[0].items()}
    circle.rounds(8, 12)
    assert all(torch.equal(circle.published[0][name], first[name]) for name in first)
    assert not torch.equal(circle.published[-1]["logits"], first["logits"])


# Settings -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"batch_trajectories": 0},
        {"updates_per_publish": 0},
        {"warm_up_updates": -1},
        {"refresh_trajectories": -1},
        {"seed": -1},
        {"beta": float("nan")},
        {"mode": "sometimes"},
        {"precision": "int8"},
        {"offline_updates": 3},
        {"mode": "offline_to_online"},
    ],
)
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidSetting, match=f"[Ll]earner.*{next(iter(wrong.values()))}"):
        LearnerSettings(**wrong)


@pytest.mark.skipif(not bf16_obstacle(), reason="this processor computes in bf16")
def test_bf16_is_refused_on_a_processor_without_it() -> None:
    with pytest.raises(InvalidSetting, match="on the CPU"):
        SmallCircle(precision="bf16")


@pytest.mark.skipif(bool(bf16_obstacle()), reason=bf16_obstacle())
def test_learning_in_bf16_on_a_processor_that_has_it() -> None:
    circle = SmallCircle(precision="bf16")
    circle.rounds(0, 120)
    assert circle.success_rate() > 0.8


def test_the_gradient_step_must_be_on_the_policy() -> None:
    circle = SmallCircle()
    other = GradientStep(new_policy())
    with pytest.raises(InvalidSetting, match="two objects"):
        Learner(
            circle.policy,
            ARide(other),
            other,
            circle.learner.replay,
            circle.learner.pacing,
            circle.arrivals,
            circle,
        )


def test_trajectories_without_tokens_do_no_harm() -> None:
    """Scripted agents leave none; the critic can learn from them all the same."""
    circle = SmallCircle()

    def scripted(each: Trajectory) -> Trajectory:
        return replace(each, decisions=tuple(Decision(d.action) for d in each.decisions))

    circle.arrivals.extend(
        scripted(each) for each in circle.world.episodes(circle.collector, 20, 0)
    )
    before = circle.policy.weights()
    report = ask(circle)
    assert report.tokens == 0
    assert report.gauges()["ratio/q50"] == 1.0
    after = circle.policy.weights()
    assert torch.equal(after["logits"], before["logits"])
    assert not torch.equal(after["values"], before["values"])
