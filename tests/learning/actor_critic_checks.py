"""What the tests of the actor-critics share: data of an old policy, runs on it, exact expectations.

`every_start` lists all short trajectories of the small world with their probabilities, so that a
target can be averaged exactly, with no sampling between the code and the theory.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from benchmarks.small_world import (
    ANSWERS,
    REWARDS,
    STATE_NAMES,
    Floats,
    SmallWorld,
    Solution,
    action_probabilities,
    new_policy,
    old_policy,
)
from benchmarks.tabular_policy import TabularPolicy
from torch import Tensor

from distrl.learning.algorithms.algorithm import Algorithm
from distrl.learning.batch import Batch, batch_of
from distrl.learning.gradient_step import GradientStep, StepSettings
from distrl.records import Trajectory

STATES = len(STATE_NAMES)
MakeAlgorithm = Callable[[GradientStep], Algorithm]


# Runs --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Learned:
    """Where a run ended, against what is known exactly."""

    regret: float  # the most that the policy gives away, over all screens
    value_error: float  # the furthest that a value is from the best values
    success_rate: float
    takes_shortcut: float  # how likely at home


def learn_from_old_data(make: MakeAlgorithm, seed: int, updates: int = 300) -> Learned:
    """Start as the old policy, learn from what it once did, and never act again."""
    torch.set_num_threads(1)
    behaviour, policy = old_policy(seed), old_policy(seed)
    episodes = SmallWorld().episodes(behaviour, 1500, seed)
    batches = [batch_of(episodes[i : i + 50], REWARDS) for i in range(0, len(episodes), 50)]
    algorithm = make(GradientStep(policy, StepSettings(0.1, 0.1, micro_batch_turns=4096)))
    for number in range(updates):
        algorithm.update(batches[number % len(batches)], policy_moves=number >= 30)
    return assessed(policy)


def assessed(policy: TabularPolicy) -> Learned:
    solution, actions = Solution(0.9), action_probabilities(policy)
    values = policy.value_table.detach().sigmoid().amin(1).numpy()
    return Learned(
        regret=float(solution.regret(actions).max()),
        value_error=float(np.abs(values - solution.best_values).max()),
        success_rate=solution.success_rate(actions),
        takes_shortcut=float(actions[0, 1]),
    )


# Small batches in double precision ---------------------------------------------------------------


def old_episodes(count: int = 12, seed: int = 0) -> list[Trajectory]:
    return SmallWorld().episodes(old_policy(), count, seed)


def moved_policy(seed: int = 0) -> TabularPolicy:
    """A policy and a critic with opinions of their own, none of them zero."""
    policy, rng = new_policy(seed, dtype=torch.float64), np.random.default_rng(seed)
    with torch.no_grad():
        for parameter in (policy.logits, policy.value_table):
            parameter.add_(torch.from_numpy(rng.normal(0.0, 0.7, parameter.shape)))
    return policy


def gradients(
    make: MakeAlgorithm, batch: Batch, policy: TabularPolicy | None = None
) -> dict[str, Tensor]:
    """The gradients of one update, unclipped: policy and values."""
    trained = policy or moved_policy()
    endless = float("inf")
    make(GradientStep(trained, StepSettings(clip=endless, critic_clip=endless))).update(batch)
    assert trained.logits.grad is not None
    assert trained.value_table.grad is not None
    return {"policy": trained.logits.grad.clone(), "values": trained.value_table.grad.clone()}


def assert_close(one: dict[str, Tensor], other: dict[str, Tensor], atol: float = 1e-12) -> None:
    for name in one:
        torch.testing.assert_close(one[name], other[name], atol=atol, rtol=0.0)


# Definitions, turn by turn -----------------------------------------------------------------------


@dataclass(frozen=True)
class TurnFacts:
    """What one turn was worth by the definition of Retrace, and what its gradient is made of."""

    state: int
    tokens: tuple[int, ...]
    ratio: float
    target: float
    advantage: float
    invalid: bool
    success: bool


def facts_of(
    policy: TabularPolicy,
    batch: Batch,
    discount: float,
    lambda_: float,
    level: Callable[[float, int], float] = lambda ratio, tokens: ratio,
) -> list[TurnFacts]:
    """Every turn of the batch in reading order, Retrace as the sum of its definition."""
    found: list[TurnFacts] = []
    for trajectory in batch.trajectories:
        states = [int(screen.pixels[0, 0, 0]) for screen in trajectory.screens]
        values = policy.value_table.detach().sigmoid().amin(1)[states].tolist()
        if trajectory.ending.terminated:
            values[-1] = 0.0
        steps = len(trajectory.decisions)
        rewards = [0.0] * steps
        rewards[-1] = float(trajectory.success)
        ratios = [
            level(
                _probability(policy, state, decision.token_ids) / np.exp(sum(decision.log_probs)),
                len(decision.token_ids),
            )
            for state, decision in zip(states, trajectory.decisions, strict=False)
        ]
        for t, decision in enumerate(trajectory.decisions):
            correction = 0.0
            for k in range(t, steps):
                cut = np.prod([lambda_ * min(1.0, ratios[i]) for i in range(t + 1, k + 1)])
                error = rewards[k] + discount * values[k + 1] - values[k]
                correction += discount ** (k - t) * float(cut) * error
            found.append(
                TurnFacts(
                    state=states[t],
                    tokens=decision.token_ids,
                    ratio=float(ratios[t]),
                    target=values[t] + correction,
                    advantage=correction,
                    invalid=decision.token_ids not in ANSWERS,
                    success=trajectory.success,
                )
            )
    return found


def score_gradient(
    policy: TabularPolicy, facts: Sequence[TurnFacts], weights: Sequence[float]
) -> Tensor:
    """Σ w·∇log π(answer), by the derivative of a softmax: 1{token} − p."""
    total = torch.zeros_like(policy.logits)
    for fact, weight in zip(facts, weights, strict=True):
        for place, token in enumerate(fact.tokens):
            node = policy.nodes[fact.tokens[:place]]
            p = policy.logits[fact.state, node].detach().softmax(-1)
            total[fact.state, node] -= weight * p
            total[fact.state, node, token] += weight
    return total


def _probability(policy: TabularPolicy, state: int, tokens: tuple[int, ...]) -> float:
    return float(policy.answer_probabilities()[state, policy.endings.index(tokens)])


# Exact expectations ------------------------------------------------------------------------------


@dataclass(frozen=True)
class EveryStart:
    """All trajectories of `steps` steps from every state: right-padded arrays and probabilities."""

    states: Tensor  # [n, steps + 1]
    actions: Tensor  # [n, steps]
    mask: Tensor  # [n, steps]
    bootstrap: Tensor  # [n]
    rewards: Tensor  # [n, steps]
    probabilities: Tensor  # [n], given the state it starts in

    def ratios(self, policy: Floats, behaviour: Floats) -> Tensor:  # [n, steps]
        table = torch.from_numpy(policy / behaviour)
        return table[self.states[:, :-1], self.actions]

    def mean_by_start(self, values: Tensor) -> Tensor:  # [n] -> [states]
        weighted = self.probabilities * values
        return torch.zeros(STATES, dtype=torch.float64).index_add(0, self.states[:, 0], weighted)


def every_start(behaviour: Floats, solution: Solution, steps: int = 3) -> EveryStart:
    rows: list[tuple[list[int], list[int], float, bool]] = []
    for state in range(STATES):
        _extend(rows, [state], [], 1.0, behaviour, solution, steps)
    lengths = torch.tensor([len(actions) for _, actions, _, _ in rows])
    states = torch.tensor([s + [0] * (steps + 1 - len(s)) for s, _, _, _ in rows])
    actions = torch.tensor([a + [0] * (steps - len(a)) for _, a, _, _ in rows])
    mask = torch.arange(steps) < lengths.unsqueeze(1)
    rewards = torch.from_numpy(solution.rewards)[states[:, :-1], actions] * mask
    bootstrap = torch.tensor([not ended for _, _, _, ended in rows])
    probabilities = torch.tensor([p for _, _, p, _ in rows], dtype=torch.float64)
    return EveryStart(states, actions, mask, bootstrap, rewards, probabilities)


def _extend(
    rows: list[tuple[list[int], list[int], float, bool]],
    states: list[int],
    actions: list[int],
    probability: float,
    behaviour: Floats,
    solution: Solution,
    steps: int,
) -> None:
    if len(actions) == steps:
        rows.append((states, actions, probability, False))
        return
    here = states[-1]
    for action, to in itertools.product(range(behaviour.shape[1]), range(STATES)):
        rng = probability * behaviour[here, action] * solution.transitions[here, action, to]
        if rng > 0.0:
            further = ([*states, to], [*actions, action])
            _extend(rows, *further, rng, behaviour, solution, steps)
    for action in np.flatnonzero(solution.transitions[here].sum(1) == 0.0).tolist():  # it ends
        rng = probability * behaviour[here, action]
        rows.append(([*states, here], [*actions, action], rng, True))
