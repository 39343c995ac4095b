"""Helpers for tasks about calls: adding one to the log, and judging whether one was made."""

from __future__ import annotations

from datetime import timedelta

from phonesim.contents.calls import (
    Call,
    Direction,
)
from phonesim.facts import Facts
from phonesim.tasks.general.differences import only_added
from phonesim.tasks.general.tolerance import same_number
from phonesim.tasks.template import View, added


def called(facts: Facts, number: str, direction: Direction, seconds: int = 0) -> Call:
    """Add a call to the log, newer than all others."""
    newest = max(call.time for call in facts.all(Call))
    return facts.add(Call(0, number, direction, newest + timedelta(minutes=4), seconds))


def forget_calls(facts: Facts, number: str) -> None:
    facts.remove_where(Call, lambda call: same_number(call.number, number))


def not_called(start: View, end: View, number: str) -> str | None:
    """Return None if exactly one call was made, to this number; else why not."""
    wrong = only_added(start, end, Call, direction="outgoing")
    if wrong:
        return wrong
    (call,) = added(start, end, Call)
    return None if same_number(call.number, number) else f"{call.number} was called"


def last_missed(view: View) -> Call:
    missed = [call for call in view.all(Call) if call.direction == "missed"]
    return max(missed, key=lambda call: call.time)
