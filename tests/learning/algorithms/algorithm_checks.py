"""What must hold for every algorithm, as checks on how one is made; and trajectories by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from benchmarks.small_world import (
    ANSWERS,
    REWARDS,
    STATE_NAMES,
    VOCABULARY,
    SmallWorld,
    Solution,
    action_probabilities,
    new_policy,
    old_policy,
)
from benchmarks.tabular_policy import TabularPolicy
from torch import Tensor

from distrl.agent.trainable_policy import Scores
from distrl.learning.algorithms.algorithm import Algorithm
from distrl.learning.batch import Batch, batch_of
from distrl.learning.gradient_step import GradientStep, StepSettings
from distrl.records import (
    Decision,
    Ending,
    Observation,
    Task,
    Trajectory,
    Unreadable,
    Verdict,
)

Make = Callable[[GradientStep], Algorithm]
WORLD = SmallWorld()
RIGHT, LEFT, DONE, BACK = (1, 1), (1, 0), (2, 0), (0,)  # answers
GARBAGE = (1e9, -1e9, math.inf, math.nan)


class GarbageScores(TabularPolicy):
    """A table whose scores hold garbage wherever there is no token."""

    garbage = 1e9

    def score(
        self, observations: Sequence[Observation], answers: Sequence[Sequence[int]]
    ) -> Scores:
        scores = super().score(observations, answers)
        real = scores.token_mask
        return replace(
            scores,
            log_probs=torch.where(real, scores.log_probs, self.garbage),
            entropies=torch.where(real, scores.entropies, self.garbage),
        )


def attempt(
    steps: Sequence[tuple[int, tuple[int, ...]]],  # state, answer
    ending: Ending,
    *,
    task: Task = WORLD.tasks[0],
    policy: TabularPolicy | None = None,
) -> Trajectory:
    """A trajectory by hand, as `policy` (a uniform one) would have said it; ends where it was."""
    given = policy or new_policy()
    states = [state for state, _ in steps]
    screens = [WORLD.screens[state] for state in (*states, states[-1])]
    decisions = [
        Decision(
            ANSWERS.get(answer, Unreadable("", "")),
            token_ids=answer,
            log_probs=_log_probs(given, state, answer),
        )
        for state, answer in steps
    ]
    verdict = Verdict(ending is Ending.SUCCESS, "", "by hand")
    return Trajectory("by hand", task, tuple(decisions), tuple(screens), ending, verdict, 0.0)


def _log_probs(policy: TabularPolicy, state: int, answer: tuple[int, ...]) -> tuple[float, ...]:
    with torch.no_grad():
        observation = Observation("", WORLD.screens[state], ())
        return tuple(policy.score([observation], [answer]).log_probs[0].tolist())


def batch(*attempts: Trajectory) -> Batch:
    return batch_of(attempts, REWARDS)


def probability(policy: TabularPolicy, state: int, answer: tuple[int, ...]) -> float:
    return math.exp(sum(_log_probs(policy, state, answer)))


def updated(make: Make, data: Batch, policy: TabularPolicy | None = None) -> TabularPolicy:
    """A uniform policy after one small step on some data."""
    moved = policy or new_policy()
    make(GradientStep(moved, StepSettings(learning_rate=0.01))).update(data)
    return moved


def recorded(count: int = 24, seed: int = 0) -> Batch:
    """Episodes of different lengths and endings by the old policy, to a policy that moved on."""
    return batch_of(WORLD.episodes(old_policy(seed), count, seed), REWARDS)


# Checks ------------------------------------------------------------------------------------------


def check_learns(make: Make, seed: int, *, to: float, updates: int = 60) -> None:
    """From its own fresh data it gets from less than a quarter to `to`."""
    torch.set_num_threads(1)
    policy = old_policy(seed)
    assert _success(policy) < 0.25
    steps = StepSettings(learning_rate=0.1, critic_learning_rate=0.05, micro_batch_turns=10**6)
    algorithm = make(GradientStep(policy, steps))
    for number in range(updates):
        episodes = WORLD.episodes(policy, 16, f"learns/{seed}/{number}")
        algorithm.update(batch_of(episodes, REWARDS))
    assert _success(policy) > to


def _success(policy: TabularPolicy) -> float:
    return Solution().success_rate(action_probabilities(policy))


def check_micro_batches(make: Make) -> None:
    """One by one, by sevens or all at once: the same gradients, losses and weights."""
    data = recorded(10)
    whole = _state_after(make, data, turns=10**6)
    for turns in (1, 7):
        split = _state_after(make, data, turns=turns)
        assert split.keys() == whole.keys()
        for name, value in split.items():
            torch.testing.assert_close(value, whole[name], rtol=1e-9, atol=1e-12, msg=name)


def check_padding(make: Make) -> None:
    """Garbage in the padding of the batch and of the scores changes nothing at all."""
    data = recorded()
    clean = _state_after(make, data)
    for garbage in GARBAGE:
        policy = GarbageScores(len(STATE_NAMES), VOCABULARY, ANSWERS, dtype=torch.float64)
        policy.garbage = garbage
        dirty = _state_after(make, _filled(data, garbage), policy=policy)
        for name, value in dirty.items():
            torch.testing.assert_close(value, clean[name], rtol=0.0, atol=0.0, msg=name)


def check_policy_stays(make: Make) -> None:
    """With policy_moves=False the policy is left alone, and its critic learns."""
    policy = new_policy()
    before = policy.weights()
    algorithm = make(GradientStep(policy))
    for seed in range(3):
        algorithm.update(recorded(seed=seed), policy_moves=False)
    assert torch.equal(policy.weights()["logits"], before["logits"])
    assert not torch.equal(policy.weights()["values"], before["values"])


def check_report(make: Make) -> None:
    """What comes back has the shape of the batch, no gradients, and zeros in the padding."""
    data = recorded()
    report = make(GradientStep(new_policy())).update(data)
    for name in ("td_errors", "ratios", "entropies", "values", "advantages"):
        shown: Tensor = getattr(report, name)
        assert shown.shape == data.mask.shape, name
        assert not shown.requires_grad, name
        assert bool(shown.isfinite().all()), name
        assert bool((shown[~data.mask] == (1.0 if name == "ratios" else 0.0)).all()), name
    assert report.gradient_norms.keys() == {"policy", "critic"}
    assert {"policy", "value"} <= report.losses.keys()


def _state_after(
    make: Make, data: Batch, *, turns: int = 64, policy: TabularPolicy | None = None
) -> dict[str, Tensor]:
    """Weights, gradients and losses after two updates, in float64."""
    moved = policy or new_policy(dtype=torch.float64)
    algorithm = make(GradientStep(moved, StepSettings(micro_batch_turns=turns)))
    algorithm.update(data)
    report = algorithm.update(data)
    losses = {name: torch.tensor(loss) for name, loss in report.losses.items()}
    grads = {
        f"gradient {place}": parameter.grad.clone()
        for place, parameter in enumerate([*moved.policy_parameters(), *moved.critic_parameters()])
        if parameter.grad is not None
    }
    return {**moved.weights(), **grads, **losses, "advantages": report.advantages}


def _filled(data: Batch, garbage: float) -> Batch:
    def dirty(array: Tensor, mask: Tensor) -> Tensor:
        return torch.where(mask, array, garbage)

    return replace(
        data,
        rewards=dirty(data.rewards, data.mask),
        invalid=dirty(data.invalid, data.mask),
        behaviour_log_probs=dirty(data.behaviour_log_probs, data.token_mask),
    )
