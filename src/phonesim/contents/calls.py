"""Calls and blocked numbers: the records of the app Phone, and the start of a call from any app.

A call is added to the log when it begins, and completed when it ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from phonesim.app import Ui
from phonesim.contents.people import digits
from phonesim.contents.timestamps import LONG_AGO
from phonesim.facts import Facts

Direction = Literal["incoming", "outgoing", "missed"]
DIRECTIONS: tuple[Direction, ...] = ("incoming", "outgoing", "missed")


@dataclass(frozen=True, slots=True)
class Call:
    """A call, ended or in progress."""

    id: int = 0
    number: str = ""
    direction: Direction = "outgoing"
    time: datetime = LONG_AGO
    seconds: int = 0
    ended: bool = True
    muted: bool = False
    speaker: bool = False


@dataclass(frozen=True, slots=True)
class BlockedNumber:
    """A number whose calls are blocked."""

    id: int = 0
    number: str = ""


def place_call(ui: Ui, number: str) -> None:
    """Call a number from any app; end a call in progress first."""
    for call in ui.facts.where(Call, lambda c: not c.ended):
        end_call(ui, call)
    call = ui.facts.add(Call(number=number, time=ui.now, ended=False))
    ui.launch("Phone", "in_call", call.id)


def end_call(ui: Ui, call: Call) -> None:
    lasted = int((ui.now - call.time).total_seconds())
    ui.facts.edit(call, ended=True, seconds=lasted, muted=False)


def lasting(seconds: int) -> str:
    """Return a call's duration in words."""
    return f"{seconds // 60} min {seconds % 60} s" if seconds >= 60 else f"{seconds} s"


def blocked_number(facts: Facts, number: str) -> BlockedNumber | None:
    """Return the record that blocks a number, if there is one."""
    return facts.find(BlockedNumber, lambda b: digits(b.number) == digits(number))
