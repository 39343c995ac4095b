"""A world of seven screens with an exactly known solution, to test and measure learning.

    home ──left──► shortcut ──left──► corner ──right──► page ──done──► success
      │               │ right           │ left
      │ right         └───► dead end ◄──┘      (back: home again, sometimes)
      └──► detour ──either──► crossing ──either──► page, or the dead end

The shortcut is the better way for a policy that takes its turns; a policy that mostly goes right,
as `old_policy` does, is lost there and does better on the slow detour. So the values of the old
policy rank the two ways wrongly: an agent that learns from the data without correction learns the
detour, one that corrects for the policy that acted learns the shortcut. Moves can fail
(`Move.rng`), answers can be unreadable (they leave the screen as it is), "done" on any screen but
the page is a failure, and episodes are truncated at the step limit, which does not terminate:
values are those of the world without a limit.

It makes records.Trajectory objects directly, without a device. `Solution` has the exact numbers by
dynamic programming: the value of any policy, the best values and the best policy.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.tabular_policy import TabularPolicy
from distrl.agent.policy import Policy
from distrl.learning.targets.rewards import RewardSettings
from distrl.records import (
    Action,
    Back,
    Decision,
    Difficulty,
    Done,
    Ending,
    Observation,
    Screen,
    Tap,
    Task,
    Trajectory,
    Unreadable,
    Verdict,
)

Floats = NDArray[np.float64]

HOME, SHORTCUT, CORNER, PAGE, DETOUR, CROSSING, DEAD_END = range(7)
STATE_NAMES = ("home", "shortcut", "corner", "page", "detour", "crossing", "dead_end")
LEFT, RIGHT = Tap(0.25, 0.5), Tap(0.75, 0.5)
ACTIONS: tuple[Action, ...] = (Back(), LEFT, RIGHT, Done())
UNREADABLE = len(ACTIONS)  # column of all unreadable answers
ANSWERS: dict[tuple[int, ...], Action] = {
    (0,): Back(),
    (1, 0): LEFT,
    (1, 1): RIGHT,
    (2, 0): Done(),
}  # vocabulary of three tokens; (1, 2), (2, 1) and (2, 2) cannot be read
VOCABULARY = 3
STEP_LIMIT = 8
REWARDS = RewardSettings(step_cost=0.0, repetition_penalty=0.0, invalid_penalty=0.0)


@dataclass(frozen=True, slots=True)
class Move:
    """A move to `to` with probability `rng`, else to `otherwise` (default: no move)."""

    to: int
    rng: float = 1.0
    otherwise: int | None = None


MOVES: dict[tuple[int, Action], Move] = {
    (HOME, LEFT): Move(SHORTCUT, 0.9),
    (HOME, RIGHT): Move(DETOUR, 0.9),
    (SHORTCUT, Back()): Move(HOME),
    (SHORTCUT, LEFT): Move(CORNER, 0.9),
    (SHORTCUT, RIGHT): Move(DEAD_END),
    (CORNER, Back()): Move(SHORTCUT),
    (CORNER, LEFT): Move(DEAD_END),
    (CORNER, RIGHT): Move(PAGE, 0.9),
    (PAGE, Back()): Move(HOME),
    (DETOUR, Back()): Move(HOME),
    (DETOUR, LEFT): Move(CROSSING, 0.5),
    (DETOUR, RIGHT): Move(CROSSING, 0.5),
    (CROSSING, Back()): Move(DETOUR),
    (CROSSING, LEFT): Move(PAGE, 0.7, DEAD_END),
    (CROSSING, RIGHT): Move(PAGE, 0.7, DEAD_END),
    (DEAD_END, Back()): Move(HOME, 0.5),
}
STARTS: dict[int, Difficulty] = {HOME: "hard", SHORTCUT: "medium", DETOUR: "medium", CORNER: "easy"}


class SmallWorld:
    """Plays episodes. The same seed and policy give the same trajectories."""

    def __init__(self, step_limit: int = STEP_LIMIT) -> None:
        self.step_limit = step_limit
        self.screens = tuple(
            Screen(np.full((2, 2, 3), s, np.uint8)) for s in range(len(STATE_NAMES))
        )
        self.tasks = tuple(_task(state, step_limit) for state in STARTS)

    def episodes(self, policy: Policy, count: int, seed: int | str) -> list[Trajectory]:
        """Play `count` episodes, with their tasks drawn uniformly."""
        rng = random.Random(f"small_world/{seed}")
        return [
            self.episode(policy, rng.choice(self.tasks), rng, f"small_world/{seed}/{number}")
            for number in range(count)
        ]

    def episode(self, policy: Policy, task: Task, rng: random.Random, name: str) -> Trajectory:
        """Play and judge one attempt at a task."""
        state = task.seed  # a task is the screen on which it begins
        screens, decisions = [self.screens[state]], list[Decision]()
        ending = Ending.STEP_LIMIT
        while len(decisions) < self.step_limit:
            past = tuple(decision.action for decision in decisions)
            [decision] = policy.decide([Observation(task.instruction, screens[-1], past)])
            decisions.append(decision)
            finished = decision.action == Done()
            if finished:
                ending = Ending.SUCCESS if state == PAGE else Ending.FAILURE
            else:
                state = _moved(state, decision.action, rng)
            screens.append(self.screens[state])
            if finished:
                break
        verdict = Verdict(ending is Ending.SUCCESS, f"at {STATE_NAMES[state]}", "small_world")
        return Trajectory(name, task, tuple(decisions), tuple(screens), ending, verdict, 0.0)


@dataclass(frozen=True)
class Solution:
    """The world as matrices, and its exact solution. Policies are [states, actions] here."""

    discount: float = 0.9
    step_limit: int = STEP_LIMIT

    @cached_property
    def transitions(self) -> Floats:  # [states, actions, states]: P(s' | s, a); 0 where it ends
        table = np.zeros((len(STATE_NAMES), len(ACTIONS) + 1, len(STATE_NAMES)))
        for state in range(len(STATE_NAMES)):
            for column, action in enumerate((*ACTIONS, Unreadable("", ""))):
                if action == Done():
                    continue
                move = MOVES.get((state, action), Move(state))
                table[state, column, move.to] += move.rng
                table[state, column, _otherwise(move, state)] += 1.0 - move.rng
        return table

    @cached_property
    def rewards(self) -> Floats:  # [states, actions]
        table = np.zeros((len(STATE_NAMES), len(ACTIONS) + 1))
        table[PAGE, ACTIONS.index(Done())] = 1.0
        return table

    def values(self, policy: Floats) -> Floats:  # [states]
        """V^π = (I − γ·P_π)⁻¹·r_π, of the world without a step limit."""
        moves = np.einsum("sa,sat->st", policy, self.transitions)
        gains = (policy * self.rewards).sum(1)
        return np.asarray(np.linalg.solve(np.eye(len(gains)) - self.discount * moves, gains))

    def action_values(self, values: Floats) -> Floats:  # [states, actions]
        """Q(s, a) = r + γ·E V(s')."""
        return self.rewards + self.discount * self.transitions @ values

    @cached_property
    def best_values(self) -> Floats:  # [states]
        values = np.zeros(len(STATE_NAMES))
        for _ in range(1000):  # γ^1000 is negligible
            values = self.action_values(values).max(1)
        return values

    @cached_property
    def best_actions(self) -> NDArray[np.int64]:  # [states]; the first where several are as good
        return np.asarray(self.action_values(self.best_values).argmax(1))

    def regret(self, policy: Floats) -> Floats:  # [states]
        """Return the value that a policy loses against the best one, by state."""
        return self.best_values - self.values(policy)

    def success_rate(self, policy: Floats) -> float:
        """Return the exact success rate within the step limit, averaged over all tasks."""
        moves = np.einsum("sa,sat->st", policy, self.transitions)
        done = (policy * self.rewards).sum(1)
        rates = np.zeros(len(done))
        for _ in range(self.step_limit):
            rates = done + moves @ rates
        return float(rates[list(STARTS)].mean())


def new_policy(seed: int = 0, dtype: torch.dtype = torch.float32) -> TabularPolicy:
    """Return a uniform table for this world."""
    return TabularPolicy(len(STATE_NAMES), VOCABULARY, ANSWERS, seed=seed, dtype=dtype)


def old_policy(seed: int = 0, strength: float = 1.5) -> TabularPolicy:
    """Return a policy that goes right nearly always, on every screen."""
    policy = new_policy(seed)
    for state in range(len(STATE_NAMES)):
        policy.prefer(state, (1, 1), strength)
    policy.prefer(PAGE, (2, 0), strength)
    return policy


def action_probabilities(policy: TabularPolicy) -> Floats:  # [states, actions]
    """Return a policy's action probabilities for `Solution`; unreadable answers share a column."""
    return by_action(policy.answer_probabilities(), policy.endings)


def by_action(answers: Floats, endings: Sequence[tuple[int, ...]]) -> Floats:  # [states, actions]
    """Sum probabilities of answers, [states, endings], by the action they mean."""
    table = np.zeros((len(answers), len(ACTIONS) + 1))
    for column, tokens in enumerate(endings):
        place = ACTIONS.index(ANSWERS[tokens]) if tokens in ANSWERS else UNREADABLE
        table[:, place] += answers[:, column]
    return table


def _moved(state: int, action: Action, rng: random.Random) -> int:
    move = MOVES.get((state, action), Move(state))
    return move.to if rng.random() < move.rng else _otherwise(move, state)


def _otherwise(move: Move, state: int) -> int:
    return state if move.otherwise is None else move.otherwise


def _task(state: int, step_limit: int) -> Task:
    name = STATE_NAMES[state]
    return Task(
        id=f"small_world_{name}/train/0",
        instruction=f"Find the page from the {name} screen and say that it is done.",
        family="general",
        template=f"small_world_{name}",
        split="train",
        seed=state,
        apps=(),
        difficulty=STARTS[state],
        step_limit=step_limit,
    )
