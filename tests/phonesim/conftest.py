"""A phone, a finger on it, and `use`: what the tests of the phone and its apps begin with.

A test that needs another phone, or an app open on it, overrides `phone`; the finger follows.
"""

from __future__ import annotations

from typing import Protocol

import pytest

from phonesim.drift import NO_DRIFT
from phonesim.finger import Finger
from phonesim.phone import Phone
from phonesim.tasks.moves import Move
from phonesim.tasks.solver import Solver


class Use(Protocol):
    """Carries out moves as a person would, by what the screen shows."""

    def __call__(self, *moves: Move) -> None: ...


@pytest.fixture
def phone() -> Phone:
    return Phone(1, NO_DRIFT)


@pytest.fixture
def finger(phone: Phone) -> Finger:
    return Finger(phone)


@pytest.fixture
def use(finger: Finger) -> Use:
    def use(*moves: Move) -> None:
        finger.follow(Solver(moves))

    return use
