"""Systems whose throughput can be worked out, and laws that hold for all of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from tests.planning.made_up_plans import FREE, rough_plan, round_plan, unpaced
from tests.slow_params import mostly_slow

from distrl.errors import InvalidSetting
from distrl.planning.plan_settings import LearnerPlan, PlanSettings, PolicyPlan
from distrl.planning.simulation import Simulation, simulate
from distrl.weights.staleness import StalenessLimit
from phonesim.latency import LogNormal

# Worked out by hand ------------------------------------------------------------------------------


def test_one_phone_without_a_learner_is_exact() -> None:
    """36 s an episode; 12 of 18 minutes are counted: 20 episodes, 80 decisions."""
    found = simulate(round_plan(), minutes=18.0)
    assert found.seconds == 720.0
    assert found.episodes == 20
    assert found.trajectories_per_minute == pytest.approx(60.0 / 36.0)
    assert found.decisions_per_second == pytest.approx(4 / 36)
    assert found.episode_seconds == pytest.approx(36.0)
    assert found.device_busy == pytest.approx(32 / 36)
    assert found.policy_busy == pytest.approx(4 / 36)
    assert found.phone_time["decide"] == pytest.approx(4 / 36)
    assert found.mean_batch == 1.0


def test_phones_in_step_share_every_batch() -> None:
    """Eight phones begin at once. The first that asks is served alone, and for ever a second ahead

    of the other seven, which stay together: batches of 1 and 7, and nobody waits for longer.
    """
    found = simulate(round_plan(8), minutes=18.0)
    assert found.mean_batch == 4.0
    assert found.trajectories_per_minute == pytest.approx(8 * 60.0 / 36.0)


def test_a_last_word_costs_the_phone_nothing() -> None:
    """With four decisions of which the last is a word: 10 + 2 + 4·1 + 3·5 = 31 s."""
    plan = round_plan()
    spoken = replace(plan, episodes=replace(plan.episodes, spoken_ends=1.0))
    assert simulate(spoken, minutes=31.0).episode_seconds == pytest.approx(31.0)


def test_a_policy_that_everybody_waits_for_sets_the_pace() -> None:
    """One answer a second, and 40 phones that want more."""
    found = simulate(round_plan(40, most=1))
    assert found.decisions_per_second == pytest.approx(1.0, rel=0.01)
    assert found.policy_busy == pytest.approx(1.0, abs=0.01)
    assert found.device_busy == pytest.approx(32 / 4 / 40, rel=0.02)  # 32 s for 4 decisions


@pytest.mark.parametrize("phones", [2, 5, 8, 12, 30])
def test_throughput_keeps_the_bounds_of_a_closed_queue(phones: int) -> None:
    """N phones that think Z = 8 s a decision and one answer in D = 1 s:

    N / (Z + N·D)  ≤  decisions a second  ≤  min(N / (Z + D), 1 / D)
    """
    plan = round_plan(phones, most=1)
    spread = replace(plan.phones, reset=LogNormal(10.0, 0.6), step=LogNormal(5.0, 0.6))
    plan = replace(plan, phones=spread)
    think = (spread.reset.mean + 2.0 + 4 * spread.step.mean) / 4
    found = simulate(plan).decisions_per_second
    assert phones / (think + phones) * 0.99 <= found
    assert found <= min(phones / (think + 1.0), 1.0) * 1.02


def test_a_learner_that_is_too_slow_holds_collection_to_its_pace() -> None:
    """8 trajectories in 60 s, each drawn twice: 4 a minute, whatever the phones could do."""
    learner = LearnerPlan(
        1, LogNormal(60.0), batch_trajectories=8, staleness=StalenessLimit(2, None)
    )
    plan = round_plan(30, learner=learner)
    plan = replace(plan, pacing=replace(plan.pacing, samples_per_insert=2.0))
    found = simulate(plan, minutes=300.0)
    assert found.trajectories_per_minute == pytest.approx(4.0, rel=0.03)
    assert found.learner_idle == pytest.approx(0.0, abs=0.01)
    assert found.phone_time["admission"] > 0.8
    assert found.samples_per_insert == pytest.approx(2.0, rel=0.03)


def test_a_tolerance_holds_collection_back_as_well() -> None:
    """The same pace by `may_insert` and late acknowledgements, where staleness has no limit."""
    learner = LearnerPlan(1, LogNormal(60.0), batch_trajectories=8, staleness=FREE, max_waiting=4)
    plan = round_plan(30, learner=learner)
    pacing = replace(plan.pacing, samples_per_insert=2.0, tolerance=16.0)
    found = simulate(replace(plan, pacing=pacing), minutes=300.0)
    assert found.trajectories_per_minute == pytest.approx(4.0, rel=0.03)
    assert found.phone_time["deliver"] > 0.8


def test_a_learner_that_is_fast_waits_for_its_pay() -> None:
    """One phone brings 1/36 a second; 4 of them pay for an update of 18 s: idle 7/8 of the time."""
    learner = LearnerPlan(1, LogNormal(18.0), batch_trajectories=4, staleness=FREE)
    plan = round_plan(1, learner=learner)
    plan = replace(plan, pacing=replace(plan.pacing, tolerance=2.5))
    found = simulate(plan, minutes=240.0)
    assert found.learner_idle == pytest.approx(1 - 18 / 144, abs=0.01)
    assert found.trajectories_per_minute == pytest.approx(60 / 36, rel=0.01)


def test_staleness_is_how_many_versions_come_while_an_episode_is_played() -> None:
    """From the first decision to the end: 1 + 5 + 3·6 = 24 s; with its own second, a version each

    3 s (phones ask at any time, so that the mean is exact): 24 / 3 = 8.
    """
    learner = LearnerPlan(1, LogNormal(3.0), batch_trajectories=1, staleness=FREE)
    plan = round_plan(50, learner=learner)
    plan = replace(plan, phones=replace(plan.phones, reset=LogNormal(10.0, 0.7)))
    found = simulate(plan, minutes=120.0)
    assert found.versions_per_minute == pytest.approx(20.0, rel=0.01)
    assert found.staleness.mean == pytest.approx(8.0, abs=0.35)


def test_more_gpus_share_an_update() -> None:
    assert LearnerPlan(4, parallel_share=0.8).update_share == pytest.approx(0.2 + 0.8 / 4)
    assert LearnerPlan(1).update_share == pytest.approx(1.0)


# Laws --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("phones", [3, 40])
@pytest.mark.parametrize("at_start", mostly_slow([1, 8, None], [8]))
def test_nothing_is_lost_and_shares_add_up(phones: int, at_start: int | None) -> None:
    """Little's law: episodes in flight = rate · time in flight; a phone is always somewhere."""
    plan = rough_plan(phones, staleness=StalenessLimit(at_start, None))
    simulation = Simulation(plan)
    found = simulation.run()
    expected = found.trajectories_per_minute / 60.0 * found.episode_seconds
    assert found.in_flight == pytest.approx(expected, rel=0.02)
    assert sum(found.phone_time.values()) == pytest.approx(1.0)
    assert min(found.phone_time.values()) >= 0.0
    fleet, learner = simulation.fleet, simulation.learner
    assert len(learner.staleness) == learner.stale + learner.pacing.inserted + learner.waiting.value
    assert fleet.in_flight.value + fleet.levels["admission"].value == phones
    assert sum(level.value for level in fleet.levels.values()) == phones


def test_the_same_seed_gives_the_same_prediction() -> None:
    plan = rough_plan(20)
    first, again, other = (simulate(plan, seed, minutes=20.0) for seed in (3, 3, 4))
    assert first == again
    assert first != other


@pytest.mark.slow
def test_more_phones_never_bring_less() -> None:
    """Also where the policy, or the learner, has long been the limit."""
    for learner in ({"staleness": FREE}, {"staleness": StalenessLimit(2, None)}):
        plans = [rough_plan(phones, **learner) for phones in (4, 8, 16, 32, 64)]
        rates = [simulate(plan, minutes=90.0).trajectories_per_minute for plan in plans]
        for fewer, more in pairwise(rates):
            assert more >= 0.98 * fewer


def test_more_copies_of_the_policy_never_bring_less() -> None:
    def rate(copies: int) -> float:
        plan = unpaced(rough_plan(48, staleness=FREE))
        policy = PolicyPlan(copies, (1, 8), (2.0, 4.0), most=8)
        return simulate(replace(plan, policy=policy)).trajectories_per_minute

    rates = [rate(copies) for copies in (1, 2, 4, 8)]
    assert rates[1] > 1.2 * rates[0]
    for fewer, more in pairwise(rates):
        assert more >= 0.98 * fewer


def test_what_would_come_too_late_is_not_started() -> None:
    """A learner that publishes after 4 draws, and draws what it is paid for: 40 in flight make ten

    versions; let start only what comes within one, and 8 are in flight, or 12 as it may draw 4
    ahead of its pay.
    """
    pace = {"update": LogNormal(0.5), "insert_seconds": 0.0}
    plans = [rough_plan(40, staleness=StalenessLimit(most, None), **pace) for most in (64, 1)]
    paid = [replace(p, pacing=replace(p.pacing, tolerance=4.0)) for p in plans]
    loose, tight = (simulate(plan) for plan in paid)
    assert loose.in_flight == pytest.approx(40.0)
    assert loose.staleness.mean > 5.0
    assert tight.in_flight <= 12.0
    assert tight.staleness.mean < loose.staleness.mean / 2
    assert tight.device_busy < 0.3
    assert tight.stale_share == loose.stale_share == 0.0


def test_what_came_too_late_is_not_learned_from() -> None:
    plan = unpaced(rough_plan(40, update=LogNormal(2.0), staleness=StalenessLimit(1, 4)))
    simulation = Simulation(plan)
    found = simulation.run()
    late = sum(behind > 4 for behind in simulation.learner.staleness)
    assert found.stale_share > 0.5
    assert simulation.learner.stale >= late


def test_broken_episodes_are_played_and_not_learned_from() -> None:
    plan = rough_plan(10)
    broken = Simulation(replace(plan, episodes=replace(plan.episodes, broken=0.25)))
    found = broken.run()
    learned = len(broken.learner.staleness) / broken.fleet.episodes
    assert found.trajectories_per_minute > 0.0
    assert learned == pytest.approx(0.75, abs=0.02)


def test_a_collector_does_one_thing_at_a_time() -> None:
    """0.2 s of its processor for each of five looks and acts: no more than an episode a second."""
    plan = round_plan(100)
    plan = replace(plan, collectors=replace(plan.collectors, seconds_per_step=0.2))
    assert 57.0 <= simulate(plan).trajectories_per_minute <= 60.01


def test_weights_reach_the_nodes_one_after_the_other_or_as_a_tree() -> None:
    """100 MB over 800 Mbit/s is a second; the 7th of a star waits 7, of a tree 3."""
    plan = round_plan(8)
    network = replace(plan.network, weight_megabytes=100.0, link_megabits=800.0)
    plan = replace(plan, network=network, collectors=replace(plan.collectors, count=7, nodes=7))
    assert simulate(plan, minutes=5.0).broadcast_seconds == pytest.approx(7.0)
    tree = replace(plan, network=replace(network, broadcast="tree"))
    assert simulate(tree, minutes=5.0).broadcast_seconds == pytest.approx(3.0)


# What is refused ---------------------------------------------------------------------------------


def test_a_plan_that_makes_no_sense_is_refused() -> None:
    plan = PlanSettings()
    with pytest.raises(InvalidSetting, match="some would have no phone"):
        replace(plan, policy=replace(plan.policy, copies=33))
    with pytest.raises(InvalidSetting, match="as many seconds as sizes"):
        replace(plan.policy, batch_sizes=(1, 2, 3))
    with pytest.raises(InvalidSetting, match="say how long a step"):
        replace(plan.phones, kind="stated")
    with pytest.raises(InvalidSetting, match="wait for each other for ever"):
        replace(plan, pacing=replace(plan.pacing, tolerance=2.0))
