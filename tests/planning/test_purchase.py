"""What is advised is what is short."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.planning.made_up_plans import round_plan, unpaced

from distrl.planning.plan_settings import LearnerPlan, PlanSettings, Prices
from distrl.planning.purchase import advice, weigh
from distrl.planning.simulation import simulate
from distrl.weights.staleness import StalenessLimit
from phonesim.latency import LogNormal

SLOW = LearnerPlan(1, LogNormal(60.0), batch_trajectories=8, staleness=StalenessLimit(2, None))


def said_about(plan: PlanSettings) -> str:
    now = simulate(plan, minutes=90.0)
    return advice(now, weigh(plan, now, minutes=90.0), plan.pacing.samples_per_insert)


@pytest.mark.parametrize(
    ("plan", "advised"),
    [
        (round_plan(10), "Buy next: +1 phone"),
        (round_plan(40, most=1), "Buy next: +1 GPU that decides"),
        (round_plan(40, learner=SLOW), "Buy next: +1 GPU that learns"),
    ],
)
def test_the_bottleneck_is_found(plan: PlanSettings, advised: str) -> None:
    assert advised in said_about(plan)


def test_a_setting_may_do_instead_of_a_purchase() -> None:
    assert "samples_per_insert = 0.5" in said_about(round_plan(40, learner=SLOW))


def test_prices_decide_between_what_both_help() -> None:
    """Eight phones at one desk, near its limit: both help, and a phone costs a hundredth."""
    plan = round_plan(8, most=1)
    plan = replace(plan, phones=replace(plan.phones, step=LogNormal(5.0, 0.8)))
    now = simulate(plan, minutes=300.0)
    gains = {each.name: each for each in weigh(plan, now, minutes=300.0)}
    assert min(gains["+1 phone"].trajectories, gains["+1 GPU that decides"].trajectories) > 0.02
    dear_phones = replace(plan, prices=Prices(phone=1000.0, policy_gpu=1.0))
    dear_gpus = replace(plan, prices=Prices(phone=1.0, policy_gpu=1000.0))
    assert "+1 GPU that decides" in advice(now, weigh(dear_phones, now, minutes=300.0), 1.0)
    assert "+1 phone" in advice(now, weigh(dear_gpus, now, minutes=300.0), 1.0)


def test_a_learner_that_falls_behind_without_holding_anybody_up_is_told() -> None:
    plan = round_plan(40, learner=replace(SLOW, staleness=StalenessLimit(None, None)))
    assert "The learner falls behind" in advice(simulate(unpaced(plan), minutes=60.0), [], 1.0)
