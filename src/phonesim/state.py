"""The whole state of a phone as one frozen record: what a snapshot holds.

Everything in it is immutable or copied on write, so taking and restoring a snapshot takes a few
microseconds, independent of the number of facts.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeAlias

from phonesim.display import STANDARD, Display
from phonesim.drift import Drift
from phonesim.facts import Facts

Plain: TypeAlias = "str | int | float | bool | tuple[Plain, ...] | None"
Due: TypeAlias = tuple[datetime, str, int]  # when, which kind, and the id of its record
LAUNCHER = "Launcher"


@dataclass(frozen=True, slots=True)
class Route:
    """An open page: its name, its arguments, and its own state (scroll, drafts, tab)."""

    page: str
    args: tuple[Plain, ...] = ()
    memory: dict[str, Plain] = field(default_factory=dict)

    def remember(self, key: str, value: Plain) -> Route:
        return replace(self, memory={**self.memory, key: value})


@dataclass(frozen=True, slots=True)
class PhoneState:
    """The state of a phone: everything except the code of its apps."""

    seed: int
    drift: Drift
    facts: Facts
    now: datetime
    running: dict[str, tuple[Route, ...]]  # the open pages of each app, oldest first
    front: str = LAUNCHER
    recent: tuple[str, ...] = ()  # apps by last use, newest first
    focus: str | None = None  # the key of the focused text field
    keyboard: str = "lower"  # lower, upper, symbols
    overlay: str | None = None  # shade or recents
    popup: str | None = None  # the name of an uninvited dialog
    message: str | None = None  # a snackbar, until the next action
    actions: int = 0  # performed since the seed
    popups: int = 0  # shown since the seed
    asleep: bool = False  # the screen is off
    heads_up: int = 0  # the id of a notification that has just come; 0: none
    due: tuple[Due, ...] = ()  # events scheduled by the world
    arrived: tuple[int, ...] = ()  # the ids of records that the world has added
    moved: tuple[tuple[int, str], ...] = ()  # ids and fields that the world has changed
    display: Display = STANDARD  # its screen
