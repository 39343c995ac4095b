"""Demonstrations of tasks: the screens of scripted solutions, each with the right action.

Demonstrations without mistakes teach nothing about recovering, so now and then a slip is inserted:
a tap on something else, or a scroll. If Back undoes the slip (tried out on a snapshot), Back is
recorded as the right action. If the slip changed nothing, the demonstration goes on with the slip
among its past actions. Otherwise the phone is restored and the slip is dropped. `cells` marks every
place where a tap would hit the same target.

Tasks may be about made-up texts (`fresh_words`); a demonstration may follow no template and ask for
whatever is on the screen (`grounding`). For models that read the view hierarchy, observations have
`elements`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from distrl import records as r
from distrl.hierarchy import Element, readable
from phonesim.dimensions import HEIGHT, WIDTH
from phonesim.scene import Touch
from phonesim.simulated_device import SimulatedDevice
from phonesim.state import PhoneState
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.fresh_words import with_fresh_words
from phonesim.tasks.grounding import Grounding, carry_out
from phonesim.tasks.moves import Move
from phonesim.tasks.solver import ScriptLost, Solver
from phonesim.tasks.task_sets import load_task

CELL = 10  # pixels
MAX_SLIPS = 2  # in one episode
MAX_GROUNDED = 16  # actions of a grounding episode

Cells = NDArray[np.bool_]  # [HEIGHT / CELL, WIDTH / CELL]


@dataclass(frozen=True, slots=True)
class Sample:
    """An observation and the right action; `signs` is the canvas's character map, if it has one."""

    observation: r.Observation
    action: r.Action
    cells: Cells  # where a tap hits the same target; all False for other actions
    signs: NDArray[np.uint16] | None


class Demonstrator:
    """Plays scripted solutions on one device, with slips, and records samples."""

    def __init__(
        self,
        device: SimulatedDevice,
        seed: int | str,
        slip_rate: float = 0.12,
        fresh_words: float = 0.0,
        *,
        elements: bool = False,
    ) -> None:
        self._device = device
        self._judge = FactJudge(device)
        self._random = random.Random(f"teacher/{seed}")  # the text is part of the seed
        self._slip_rate = slip_rate  # probability of a slip before each step
        self._fresh_words = fresh_words  # probability that a task is about made-up texts
        self._grounding = Grounding(device, self._random)
        self._samples: list[Sample] = []
        self._past: list[r.Action] = []
        self._elements = elements
        self._touched: list[Element | None] = []  # the element that each past action touched

    def demonstrate(self, task: r.Task) -> list[Sample]:
        """Return the samples of one episode; none if a slip made the task fail."""
        instruction = self._begin(task)
        moves = self._judge.template.solve(self._judge.start)
        end = self._follow(instruction, moves, task.step_limit)
        if end is None:
            return []
        answer = end.text if isinstance(end, r.Answer) else None
        return self._samples if self._judge.verdict(answer).success else []

    def ground(self, task: r.Task) -> list[Sample]:
        """Play a random part of a task, then return the samples of a random walk from there."""
        self._begin(task)
        skipped = self._random.randrange(task.step_limit // 2)
        carry_out(self._device, self._judge.template.solve(self._judge.start), skipped)
        walk = self._grounding.walk()
        if walk is None:
            return []
        ended = self._follow(walk.instruction, walk.moves, MAX_GROUNDED)
        return self._samples if ended is not None else []

    def _begin(self, task: r.Task) -> str:
        """Prepare the phone and return the instruction, which may be about made-up texts."""
        self._device.reset(task.seed)
        _, template = load_task(task.id)
        instruction = task.instruction
        if self._random.random() < self._fresh_words:
            template = with_fresh_words(template, self._random)
            instruction = template.instruction(self._random)
        self._judge.begin_template(task, template)
        return instruction

    def _follow(self, instruction: str, moves: Iterable[Move], limit: int) -> r.Action | None:
        """Record the actions of a solution and return the last one; None if it did not finish."""
        solver = Solver(moves, open_by_name=True)
        self._samples, self._past, self._touched = [], [], []
        slips = 0
        while len(self._past) < limit:
            if slips < MAX_SLIPS and self._random.random() < self._slip_rate:
                slips += self._slip(instruction)
            try:
                action = solver.next(self._device.elements())
            except ScriptLost:  # the solution cannot go on after a slip
                return None
            self._record(instruction, action)
            if isinstance(action, r.FINAL_ACTIONS):
                return action
        return None

    def _record(self, instruction: str, action: r.Action) -> None:
        phone = self._device.phone
        screen = r.Screen(phone.frame())
        shown = readable(phone.elements()) if self._elements else ()
        touched = tuple(self._touched)
        observation = r.Observation(instruction, screen, tuple(self._past), (), shown, touched)
        signs = getattr(phone.scene.canvas, "signs", None)
        cells = same_cells(action, phone.scene.touches)
        action = self._elsewhere(action, cells)
        labels = None if signs is None else signs.copy()
        self._samples.append(Sample(observation, action, cells, labels))
        self._do(action)

    def _elsewhere(self, action: r.Action, cells: Cells) -> r.Action:
        """Move a touch to a random place of its target: a policy does not always hit the middle."""
        if not isinstance(action, r.Tap | r.LongPress):
            return action
        row, column = self._random.choice(np.argwhere(cells).tolist())
        return type(action)((column + 0.5) * CELL / WIDTH, (row + 0.5) * CELL / HEIGHT)

    def _do(self, action: r.Action) -> None:
        if self._elements:
            phone = self._device.phone
            shown, screen = readable(phone.elements()), r.Screen(phone.frame())
            self._touched.append(r.touched_by(action, shown, screen))
        self._device.perform(action)
        self._past.append(action)

    def _slip(self, instruction: str) -> bool:
        """Perform a slip. Return True if it stays among the past actions."""
        before = self._device.snapshot()
        elements = self._device.elements()
        slip = self._slipped(elements)
        if slip is None:
            return False
        self._do(slip)
        after = self._device.snapshot()
        changed = _differ(before, after)
        same_page = _page(self._device.elements()) == _page(elements)
        if not changed and (same_page or isinstance(slip, r.Swipe)):
            return True  # at most the scroll position changed: the solution can go on
        self._device.perform(r.Back())
        undone = _page(self._device.elements()) == _page(elements)
        if changed or not undone or _differ(before, self._device.snapshot()):
            self._device.restore(before)
            del self._past[-1:], self._touched[-1:]
            return False
        self._device.restore(after)
        self._record(instruction, r.Back())
        return True

    def _slipped(self, elements: tuple[Element, ...]) -> r.Action | None:
        if self._random.random() < 0.2:
            up = self._random.random() < 0.5
            return r.Swipe(0.5, 0.35 if up else 0.7, 0.5, 0.7 if up else 0.35, 0.8)
        choices = [e for e in elements if e.clickable and e.window not in ("keyboard", "popup")]
        if not choices:
            return None
        left, top, right, bottom = self._random.choice(choices).bounds
        x, y = self._random.uniform(left, right), self._random.uniform(top, bottom)
        return r.Tap(min(x / WIDTH, 1.0), min(y / HEIGHT, 1.0))


def same_cells(action: r.Action, touches: list[Touch]) -> Cells:
    """Return the mask of all cells where a touch would hit the same target."""
    cells = np.zeros((HEIGHT // CELL, WIDTH // CELL), dtype=np.bool_)
    if not isinstance(action, r.Tap | r.LongPress):
        return cells
    owner = np.full(cells.shape, -1, dtype=np.int16)
    down, across = _middles(cells.shape[0], HEIGHT), _middles(cells.shape[1], WIDTH)
    for number, touch in enumerate(touches):
        if touch.on_tap or touch.on_tap_at or (touch.on_hold and isinstance(action, r.LongPress)):
            left, top, right, bottom = touch.bounds
            rows = slice(*np.searchsorted(down, (top, bottom)))
            columns = slice(*np.searchsorted(across, (left, right)))
            owner[rows, columns] = number
    row = min(int(action.y * HEIGHT) // CELL, cells.shape[0] - 1)
    column = min(int(action.x * WIDTH) // CELL, cells.shape[1] - 1)
    own = owner[row, column]
    if own >= 0 and not touches[own].on_tap_at:  # on a slider, the exact place matters
        cells |= owner == own
    cells[row, column] = True
    return cells


@cache
def _middles(count: int, extent: int) -> NDArray[np.int64]:
    """Return the pixel of a tap on each cell's centre, with the rounding error of a real tap."""
    return ((np.arange(count) + 0.5) * CELL / extent * extent).astype(np.int64)


def _page(elements: tuple[Element, ...]) -> tuple[Element, ...]:
    """Return the elements of the screen without the system bars, whose clock keeps changing."""
    return tuple(element for element in elements if element.window != "system")


def _differ(one: PhoneState, other: PhoneState) -> bool:
    return dict(one.facts.tables()) != dict(other.facts.tables())
