"""Weights and screens that one side does not have are found out by log-probabilities, and named."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch
from tests.agent.vlm_policies import SHARP, screen, tiny_policy
from tests.engine.tiny_runs import write_model
from tests.learning.test_learner_with_a_model import TASK
from torch import Tensor

from distrl.agent.encoding_cache import encoding_key
from distrl.agent.loading import open_policy
from distrl.agent.prompt import Prompt, Prompter
from distrl.agent.simple_policies import blank_screens
from distrl.agent.vlm_policy import VlmPolicy
from distrl.agent.vlm_settings import VlmSettings
from distrl.errors import LogProbsDiffer, ScreensUnseen, WeightsDiffer
from distrl.learning import policy_watch
from distrl.learning.batch import observation_of
from distrl.learning.policy_watch import PolicyWatch
from distrl.records import Decision, Ending, Observation, Trajectory, Verdict, Wait

NAME = "collector-2.1"
NO = Verdict(success=False, reason="", judge="made up")


def policy_of(family: str = "qwen3_vl") -> VlmPolicy:
    torch.set_num_threads(1)
    return tiny_policy(family, past_screens=0)


def played(policy: VlmPolicy, height: int = 210, width: int = 160) -> Trajectory:
    """Three waits, with what the policy said to the same screens and past."""
    screens = tuple(screen(number, height, width) for number in range(4))
    blank = Trajectory(
        f"{NAME}/1/t/train/0", TASK, (Decision(Wait()),) * 3, screens, Ending.FAILURE, NO, 0.0
    )
    return answered(policy, blank, [observation_of(blank, at) for at in range(3)])


def blindly(policy: VlmPolicy, height: int = 210, width: int = 160) -> Trajectory:
    """The same, of a policy that gets black screens; they are recorded as they were."""
    seen = played(policy, height, width)
    return answered(policy, seen, [blank_screens(observation_of(seen, at)) for at in range(3)])


def answered(policy: VlmPolicy, seen: Trajectory, observations: list[Observation]) -> Trajectory:
    decided = policy.decide(observations)
    decisions = tuple(dataclasses.replace(each, action=Wait()) for each in decided)
    return dataclasses.replace(seen, decisions=decisions)


def moved(policy: VlmPolicy) -> dict[str, Tensor]:
    rng = torch.Generator().manual_seed(3)
    return {
        name: each + 0.01 * torch.randn(each.shape, generator=rng)
        for name, each in policy.weights().items()
    }


def compared(watch: PolicyWatch, trajectory: Trajectory) -> float | None:
    watch.arrived(trajectory)
    return watch.compare()


@pytest.mark.parametrize("family", ["qwen3_vl", "auto_ui"])
def test_the_same_policy_is_far_within_the_tolerance_and_is_left_as_it_was(family: str) -> None:
    acting, learning = policy_of(family), policy_of(family)
    watch = PolicyWatch(learning, share=1.0)
    assert watch.tolerance == 1e-3
    assert (compared(watch, played(acting)) or 1.0) < 1e-5
    weights = moved(acting)
    watch.published(4, weights)
    acting.load_weights(weights, 4)
    before = learning.weights()
    assert (compared(watch, played(acting)) or 1.0) < 1e-5
    assert all(torch.equal(before[name], each) for name, each in learning.weights().items())
    assert learning.weight_version == 0
    assert compared(watch, played(acting)) is None  # that version of that collector is known


def test_weights_that_never_reached_the_policy_that_acts_are_found_with_their_version() -> None:
    acting, learning = policy_of(), policy_of()
    watch = PolicyWatch(learning, share=1.0)
    watch.published(4, moved(acting))
    acting.load_weights(acting.weights(), 4)  # the number has come, the weights have not
    with pytest.raises(WeightsDiffer, match=f"{NAME} says .*version 4.*those of version 0"):
        compared(watch, played(acting))


def test_a_collector_that_does_not_see_is_named() -> None:
    acting, learning = policy_of(), policy_of()
    with pytest.raises(ScreensUnseen, match=f"{NAME} played version 0 as if all screens"):
        compared(PolicyWatch(learning, share=1.0), blindly(acting))


def test_encodings_of_a_collector_that_does_not_see_hide_nothing(tmp_path: Path) -> None:
    """The learner scores by encodings that such a collector has shared: of black screens."""
    model = write_model(tmp_path)
    acting, learning = (open_policy(model, VlmSettings(sampling=SHARP)) for _ in range(2))
    trajectory = blindly(acting, 720, 360)
    turns = [observation_of(trajectory, at) for at in range(len(trajectory.decisions))]
    own = [encoding_key(learning.prompter.write(each)) for each in turns]
    acting.share = lambda prompts, parts: learning.encodings.put(own, parts)
    acting.decide([blank_screens(each) for each in turns])
    recorded = [each.log_probs for each in trajectory.decisions]
    scores = learning.score(turns, [each.token_ids for each in trajectory.decisions])
    assert scores.log_probs[0, 0].item() == pytest.approx(recorded[0][0], abs=1e-5)
    with pytest.raises(ScreensUnseen, match=NAME):
        compared(PolicyWatch(learning, share=1.0), trajectory)


def test_a_learner_that_does_not_see_is_named_though_the_collector_is_as_blind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    acting, learning = policy_of(), policy_of()
    write = Prompter.write

    def black(prompter: Prompter, seen: Observation) -> Prompt:
        return write(prompter, blank_screens(seen))

    monkeypatch.setattr(Prompter, "write", black)
    with pytest.raises(ScreensUnseen, match="the learner gives"):
        compared(PolicyWatch(learning, share=1.0), played(acting))


def test_another_temperature_is_a_difference_that_no_version_explains() -> None:
    acting, learning = policy_of(), policy_of()
    watch = PolicyWatch(learning, share=1.0)
    watch.published(1, moved(acting))
    acting.sampling = dataclasses.replace(SHARP, temperature=0.5)
    with pytest.raises(LogProbsDiffer, match=f"{NAME} and the learner are .*version 0"):
        compared(watch, played(acting))


def test_weights_are_kept_within_bounds_and_unknown_versions_are_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    acting, learning = policy_of(), policy_of()
    size = sum(each.nbytes for each in learning.weights().values())
    monkeypatch.setattr(policy_watch, "KEPT_BYTES", 2 * size)
    watch = PolicyWatch(learning, share=1.0)
    for version in (1, 2):
        watch.published(version, learning.weights())
    assert compared(watch, played(acting)) is None  # version 0 is gone
    assert watch.keeps_weights
    monkeypatch.setattr(policy_watch, "KEPT_BYTES", size - 1)
    watch.published(3, learning.weights())
    acting.load_weights(acting.weights(), 3)
    assert compared(watch, played(acting)) is None
    assert not PolicyWatch(learning).keeps_weights  # which the run says when it begins


def test_comparisons_take_no_more_than_their_share_of_the_time() -> None:
    acting, learning, now = policy_of(), policy_of(), [0.0]

    def clock() -> float:
        now[0] += 0.5  # each look takes half a second
        return now[0]

    watch = PolicyWatch(learning, share=0.1, clock=clock)
    compared_in = 0
    for version in range(1, 30):
        watch.published(version, learning.weights())
        acting.load_weights(learning.weights(), version)
        compared_in += compared(watch, played(acting)) is not None
    assert compared_in >= 3
    assert 0.5 * (compared_in - 1) <= 0.1 * now[0]  # half a second for each but the last
