"""A simulated phone of pages for errands of four right taps and a word: small, fast, learnable.

    launcher ──app──► its page ──section──► list ──item──► item ──option──► page ──"done"──► success
                      a wrong tap opens a wrong page; each Back closes one page

An errand names an app, a section, an item and an option. Layouts differ: which place of a page
opens which entry must be learned for each page and word. Some taps miss, and a pop-up covers the
page until Back is pressed. So 480 errands consist of 81 things to know, and a policy that has
learned those from some errands can run the others: a third is held out (`HELD_OUT`) and never
played.

Waits are the paper's (`latency.PAPER_EMULATOR`), on a clock that is only accounted; `stations` adds
what its workers also wait for at each step: image features, the policy and the evaluator.
`errand_success` computes the success rate of a policy exactly.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from functools import cache
from types import TracebackType
from typing import Any, Self

import numpy as np

from benchmarks.tabular_policy import TabularPolicy
from distrl.hierarchy import Element
from distrl.records import (
    ONLY_SAID,
    Action,
    Back,
    Done,
    Ending,
    Home,
    Observation,
    Screen,
    Tap,
    Task,
    Verdict,
)
from distrl.replay.compressed_screen import CompressedScreen
from distrl.task_sets.curriculum import State
from phonesim.latency import (
    EVALUATOR_CALL,
    IMAGE_FEATURES,
    PAPER_EMULATOR,
    POLICY_INFERENCE,
    Durations,
)

Page = tuple[int, ...]  # the app, section and item that are open; () is the launcher
Tokens = tuple[int, int]

SIZES = (6, 5, 4, 4)  # apps; sections of each; items; options
DEPTH = len(SIZES)
ASTRAY, IN_FRONT = DEPTH + 1, DEPTH + 2  # kinds of rows beside the depths: a wrong page, a pop-up
PLACES = 8  # places of a page that can be tapped
STEP_LIMIT = 10
TAP_WORKS, POP_UP = 0.95, 0.1
SKIPPED_EVALUATIONS = 0.3  # share of steps whose frame was seen before, which the evaluator skips
WORDS = 4
TAPS: tuple[Action, ...] = tuple(Tap((place + 0.5) / PLACES, 0.5) for place in range(PLACES))
TAUGHT = (1.5, 3.0)  # range of the logits added to an answer at first
MISLED = 0.4  # share of rows where a random tap gets such logits as well
BACK, DONE, HOME = (2, 0), (2, 1), (2, 2)
ANSWERS: dict[tuple[int, ...], Action] = {
    **{divmod(place, WORDS): tap for place, tap in enumerate(TAPS)},
    BACK: Back(),
    DONE: Done(),
    HOME: Home(),
}  # two of four words; (2, 3) and (3, …) cannot be read


# Errands and layouts -----------------------------------------------------------------------------


def _task(goal: Page, number: int) -> Task:
    held_out = sum(goal) % 3 == 0  # every thing to know occurs in both parts
    return Task(
        id=f"errand/{'test' if held_out else 'train'}/{number}",
        instruction="app {} section {} item {} option {}".format(*goal),
        family="general",
        template="errand",
        split="test" if held_out else "train",
        seed=number,
        apps=(),
        difficulty="medium",
        step_limit=STEP_LIMIT,
    )


GOALS: tuple[Page, ...] = tuple(itertools.product(*(range(size) for size in SIZES)))
TASKS = tuple(_task(goal, number) for number, goal in enumerate(GOALS))
TRAINED = tuple(task for task in TASKS if task.split == "train")
HELD_OUT = tuple(task for task in TASKS if task.split == "test")


@cache
def layout(page: Page) -> tuple[int, ...]:
    """Return each entry's place on a page, which depends only on depth and the last entry."""
    places = list(range(SIZES[len(page)]))
    random.Random(f"errands/layout/{len(page)}/{page[-1:]}").shuffle(places)
    return tuple(places)


@cache
def goal_of(instruction: str) -> Page:
    return tuple(int(word) for word in instruction.split()[1::2])


class ErrandTasks:
    """Implements `TaskSource`: training errands, drawn uniformly."""

    def __init__(self, seed: str) -> None:
        self._rng = random.Random(f"errands/tasks/{seed}")

    def next_task(self) -> Task:
        return self._rng.choice(TRAINED)

    def hear(self, task: Task, ending: Ending) -> None:
        """Ignore the ending: draws do not depend on it."""

    def find(self, task_id: str) -> Task:
        return next(task for task in TASKS if task.id == task_id)

    def state(self) -> State:
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Load nothing: `state` is empty."""


# The phone ---------------------------------------------------------------------------------------


@cache
def _drawn(page: Page, pop_up: bool) -> Screen:
    """Return two pixels that hold the open entry of each level and whether a pop-up is shown."""
    open_now = [entry + 1 for entry in page] + [0] * (DEPTH - len(page))
    return Screen(np.array([*open_now, 0, pop_up], np.uint8).reshape(1, 2, 3))


class ErrandPhone:
    """Implements `Device`. Its random events and durations are seeded by name and episode."""

    blocking = False

    def __init__(self, name: str, *, stations: bool = False) -> None:
        self.name = name
        self.page: Page = ()
        self.seconds = 0.0
        self._pop_up = False
        self._stations = stations
        self._episodes = 0
        self._rng = random.Random()
        self._durations: Durations

    def reset(self, seed: int) -> None:
        self._episodes += 1
        self._rng = random.Random(f"errands/{self.name}/{self._episodes}")
        self._durations = Durations(PAPER_EMULATOR, self.name, seed, self._episodes)
        self.page, self._pop_up = (), False
        self.seconds = self._durations.of_reset()

    def screen(self) -> Screen:
        self.seconds += self._durations.of_settling() + self._durations.of_capture()
        return _drawn(self.page, self._pop_up)

    def perform(self, action: Action) -> Screen:
        if self._stations:
            self._wait_for_others()
        if isinstance(action, ONLY_SAID):
            return _drawn(self.page, self._pop_up)
        before = self.page, self._pop_up
        self.seconds += self._durations.of_action(action)
        self._do(action)
        if (self.page, self._pop_up) != before:
            self.seconds += self._durations.of_page_load()
        return self.screen()

    def _wait_for_others(self) -> None:
        self.seconds += IMAGE_FEATURES.draw(self._rng) + POLICY_INFERENCE.draw(self._rng)
        if self._rng.random() >= SKIPPED_EVALUATIONS:
            self.seconds += EVALUATOR_CALL.draw(self._rng)

    def _do(self, action: Action) -> None:
        if self._pop_up:
            self._pop_up = action != Back()
            return
        if action in TAPS and len(self.page) < DEPTH and self._rng.random() < TAP_WORKS:
            place, places = TAPS.index(action), layout(self.page)
            if place in places:
                self.page = (*self.page, places.index(place))
        elif action == Back():
            self.page = self.page[:-1]
        elif action == Home():
            self.page = ()
        self._pop_up = self._rng.random() < POP_UP

    def elements(self) -> tuple[Element, ...]:
        return ()

    def snapshot(self) -> tuple[Page, bool]:
        return self.page, self._pop_up

    def restore(self, state: tuple[Page, bool]) -> None:
        """Reopen that page; later random events are drawn anew."""
        self.page, self._pop_up = state

    def close(self) -> None:
        """Do nothing: no resource is held."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class ErrandJudge:
    """Implements `Judge`: succeeds if the errand's option is open."""

    def __init__(self, phone: ErrandPhone) -> None:
        self._phone = phone
        self._goal: Page = ()

    def begin(self, task: Task) -> None:
        self._goal = goal_of(task.instruction)

    def verdict(self, answer: str | None) -> Verdict:
        success = self._phone.page == self._goal
        return Verdict(success, "" if success else f"{self._phone.page} is open", "errands")


# The policy --------------------------------------------------------------------------------------


@cache
def row_names() -> dict[Page, int]:
    """Return the number of each thing to know: see `row_of`."""
    known: list[Page] = [(0, word) for word in range(SIZES[0])]
    for depth in range(1, DEPTH):  # the entry on top, and the errand's word that counts
        known += [
            (depth, top, word) for top in range(SIZES[depth - 1]) for word in range(SIZES[depth])
        ]
    known += [(DEPTH, top) for top in range(SIZES[-1])]
    known += [(ASTRAY, depth) for depth in range(1, DEPTH + 1)]
    known += [(IN_FRONT,)]
    return {what: number for number, what in enumerate(known)}


@cache
def row_of(page: Page, pop_up: bool, goal: Page) -> int:
    """Return the table's row: the open entry and the one word of the errand that counts there."""
    if pop_up:
        return row_names()[(IN_FRONT,)]
    depth = len(page)
    if page != goal[:depth]:
        return row_names()[(ASTRAY, depth)]
    if depth == DEPTH:
        return row_names()[(DEPTH, goal[-1])]
    return row_names()[(depth, *page[-1:], goal[depth])]


def right_answer(page: Page, pop_up: bool, goal: Page) -> Tokens:
    depth = len(page)
    if pop_up or page != goal[:depth]:
        return BACK
    return DONE if depth == DEPTH else divmod(layout(page)[goal[depth]], WORDS)


class ErrandPolicy(TabularPolicy):
    """A table policy with a row for each thing to know; it reads the page and the errand."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(
            len(row_names()), WORDS, ANSWERS, instruction_slots=4 * len(TASKS), seed=seed
        )
        self._pages: dict[str, tuple[Page, bool]] = {}  # by address; unpacks each once

    def state_of(self, observation: Observation) -> int:
        page, pop_up = self._read(observation.screen)
        return row_of(page, pop_up, goal_of(observation.instruction))

    def _read(self, screen: Screen) -> tuple[Page, bool]:
        if not isinstance(screen, CompressedScreen):
            return _read(screen)
        if screen.address not in self._pages:
            self._pages[screen.address] = _read(screen)
        return self._pages[screen.address]


def _read(screen: Screen) -> tuple[Page, bool]:
    *open_now, _, in_front = screen.pixels.flatten().tolist()
    return tuple(entry - 1 for entry in open_now if entry), bool(in_front)


def taught_policy(seed: int = 0) -> ErrandPolicy:
    """Return the initial policy: taught a little, some of it wrongly; 14 % of errands succeed.

    It is the same for every seed, which only seeds its draws.
    """
    policy = ErrandPolicy(seed)
    rng = random.Random("errands/taught")
    right: dict[int, Tokens] = {}
    for goal in GOALS:
        for depth in range(DEPTH + 1):
            right[row_of(goal[:depth], False, goal)] = right_answer(goal[:depth], False, goal)
    for row in range(policy.states):
        answer = right.get(row, BACK)
        policy.prefer(row, answer, rng.uniform(*TAUGHT))
        if rng.random() < MISLED:
            policy.prefer(row, divmod(rng.randrange(PLACES), WORDS), rng.uniform(*TAUGHT))
    return policy
