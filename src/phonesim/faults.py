"""Injected faults of a phone: which, how often, and for how long.

Faults are settings of a device, drawn from a random stream of their own (turning them on changes no
latency) or scheduled for the n-th action of every episode. At most one is drawn per action, so each
probability is exactly the share of actions that it strikes. A drawn fault that does not apply (a
stuck keyboard where nothing is typed) is dropped; a scheduled one waits for the first action to
which it applies.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, get_args

from distrl.bounds import Bounds, Fixed, Meaning, Seconds, check_bounds
from distrl.errors import InvalidSetting
from phonesim.latency import LogNormal

FaultKind = Literal[
    "freeze",
    "disconnect",
    "app_crash",
    "black_screen",
    "white_screen",
    "stuck_keyboard",
    "slow_page",
]
KINDS: tuple[FaultKind, ...] = get_args(FaultKind)
PerAction = Annotated[float, Bounds(0.0, 1.0, "(a probability per action)")]
WAITS = Fixed("waits of the simulated phone; the faults themselves are settings")


@dataclass(frozen=True, slots=True)
class Faults:
    """Probabilities per action, a schedule {action number: kind}, and waits for the phone.

    Actions are counted from 1 at each reset. The probability of an app crash is per action in an
    app, of a stuck keyboard per typed text, of a slow page per page that loads.
    """

    freeze: PerAction = 0.0
    disconnect: PerAction = 0.0
    app_crash: PerAction = 0.0
    black_screen: PerAction = 0.0
    white_screen: PerAction = 0.0
    stuck_keyboard: Annotated[float, Bounds(0.0, 1.0, "(a probability per typed text)")] = 0.0
    slow_page: Annotated[float, Bounds(0.0, 1.0, "(a probability per page)")] = 0.0
    schedule: Annotated[
        Mapping[int, FaultKind], Meaning("the fault of the n-th action of every episode")
    ] = field(default_factory=dict)
    step_deadline: Annotated[Seconds, WAITS] = 300.0  # until a frozen phone is given up
    page_deadline: Annotated[Seconds, WAITS] = 60.0  # until a page is given up
    page_takes: Annotated[LogNormal, WAITS] = LogNormal(20.0, 1.0)  # on top of its usual time
    blank_lasts: Annotated[LogNormal, WAITS] = LogNormal(10.0, 0.8)
    blank_retry_seconds: Annotated[Seconds, WAITS] = 5.0
    blank_retries: Annotated[int, Bounds(0, 10**6, "looks at a blank screen"), WAITS] = 4

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.total > 1.0 + 1e-9:
            raise InvalidSetting(
                f"the chances of all faults add up to {self.total:g}; at most one strikes an "
                "action, so keep the sum at 1 or below"
            )
        for number, kind in self.schedule.items():
            _check_scheduled(number, kind)
        object.__setattr__(self, "schedule", dict(self.schedule))  # the caller may change theirs

    @property
    def total(self) -> float:
        """The probability that any fault strikes an action."""
        return math.fsum(getattr(self, kind) for kind in KINDS)


class FaultStream:
    """Draws the faults of one episode on one device."""

    __slots__ = ("_action", "_any", "_drawn", "_due", "_faults", "_rng")

    def __init__(self, faults: Faults, device: str, seed: int, attempt: int = 0) -> None:
        self._faults = faults
        self._any = faults.total > 0.0
        self._rng = random.Random(f"faults/{device}/{seed}/{attempt}")
        self._action = 0
        self._drawn: FaultKind | None = None
        self._due: list[FaultKind] = []  # scheduled faults that have not struck yet

    def next_action(self) -> int:
        """Draw the fault of the next action, and return the action's number."""
        self._action += 1
        if self._action in self._faults.schedule:
            self._due.append(self._faults.schedule[self._action])
        self._drawn = self._draw() if self._any else None
        return self._action

    def _draw(self) -> FaultKind | None:
        left = self._rng.random()
        for kind in KINDS:
            left -= getattr(self._faults, kind)
            if left < 0.0:
                return kind
        return None

    def strikes(self, kind: FaultKind) -> bool:
        """Return whether this fault strikes now, once; to be called only where it applies."""
        if kind in self._due:
            self._due.remove(kind)
            return True
        if kind == self._drawn:
            self._drawn = None
            return True
        return False

    def page_seconds(self) -> float:
        return self._faults.page_takes.draw(self._rng)

    def blank_seconds(self) -> float:
        return self._faults.blank_lasts.draw(self._rng)


def _check_scheduled(number: object, kind: object) -> None:
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise InvalidSetting(
            f"faults.schedule has a fault for action {number!r}; actions are counted from 1"
        )
    if kind not in KINDS:
        raise InvalidSetting(f"faults.schedule[{number}]={kind!r}; there are {', '.join(KINDS)}")


NO_FAULTS = Faults()
