"""The exact success rate of a policy on errands, by dynamic programming over pages.

A policy cannot tell apart pages that are wrong from the same depth on (`row_of`). So a place is the
number of open pages and how many of them, from the first, are right. It takes no device time.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.errand_phone import (
    BACK,
    DEPTH,
    DONE,
    HELD_OUT,
    HOME,
    IN_FRONT,
    PLACES,
    POP_UP,
    SIZES,
    STEP_LIMIT,
    TAP_WORKS,
    WORDS,
    ErrandPolicy,
    Page,
    goal_of,
    layout,
    row_names,
    row_of,
)
from distrl.records import Task

Floats = NDArray[np.float64]

PLACES_TO_BE = tuple((depth, right) for depth in range(DEPTH + 1) for right in range(depth + 1))
NUMBER = {place: number for number, place in enumerate(PLACES_TO_BE)}


def success_rate(policy: ErrandPolicy, tasks: tuple[Task, ...] = HELD_OUT) -> float:
    """Return the mean probability of running these errands within the step limit."""
    table = policy.answer_probabilities()  # [rows, endings]
    column = {answer: number for number, answer in enumerate(policy.endings)}
    taps = table[:, [column[divmod(place, WORDS)] for place in range(PLACES)]]
    back, done, home = (table[:, column[answer]] for answer in (BACK, DONE, HOME))
    rows, right_taps = _rows_and_taps(tasks)
    size = len(PLACES_TO_BE)
    moves = np.zeros((len(tasks), size, size))  # without pop-ups: [task, from, to]
    for place, (depth, right) in enumerate(PLACES_TO_BE):
        row = rows[:, place]
        moves[:, place, NUMBER[max(0, depth - 1), min(right, max(0, depth - 1))]] += back[row]
        moves[:, place, NUMBER[0, 0]] += home[row]
        moves[:, place, place] += taps[row].sum(1)
        if depth == DEPTH:
            continue
        leads = TAP_WORKS * taps[row][:, : SIZES[depth]].sum(1)
        onward = np.zeros(len(tasks))
        if right == depth:
            onward = TAP_WORKS * taps[row, right_taps[:, depth]]
            moves[:, place, NUMBER[depth + 1, depth + 1]] += onward
        moves[:, place, NUMBER[depth + 1, right]] += leads - onward
        moves[:, place, place] -= leads
    return _played_out(moves, done[rows], table[row_names()[(IN_FRONT,)]], column)


def _played_out(
    moves: Floats,  # [tasks, places, places]
    done: Floats,  # [tasks, places]: probability of "done"
    in_front: Floats,  # [endings]: probabilities of answers to a pop-up
    column: Mapping[tuple[int, ...], int],
) -> float:
    arrived = np.zeros(len(PLACES_TO_BE))
    arrived[NUMBER[DEPTH, DEPTH]] = 1.0
    closed, says_done = float(in_front[column[BACK]]), float(in_front[column[DONE]])
    nothing = 1.0 - moves.sum(2) - done  # unreadable: no pop-up follows it
    clear = np.zeros(done.shape)  # [tasks, places]: success with so many steps left
    covered = np.zeros(done.shape)
    for _ in range(STEP_LIMIT):
        after = (1.0 - POP_UP) * clear + POP_UP * covered
        moved = np.einsum("tpq,tq->tp", moves, after)
        clear, covered = (
            done * arrived + moved + nothing * clear,
            says_done * arrived + closed * clear + (1.0 - closed - says_done) * covered,
        )
    return float(clear[:, NUMBER[0, 0]].mean())


@cache
def _rows_and_taps(tasks: tuple[Task, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the table's row at each place, [tasks, places], and the right tap at each depth."""
    goals = [goal_of(task.instruction) for task in tasks]
    rows = [[row_of(_page(goal, *where), False, goal) for where in PLACES_TO_BE] for goal in goals]
    taps = [[layout(goal[:depth])[goal[depth]] for depth in range(DEPTH)] for goal in goals]
    return np.array(rows), np.array(taps)


def _page(goal: Page, depth: int, right: int) -> Page:
    """Return some page at that depth whose first `right` entries are right."""
    wrong = tuple((entry + 1) % size for entry, size in zip(goal, SIZES, strict=True))
    return goal[:right] + wrong[right:depth]
