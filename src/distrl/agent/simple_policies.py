"""Agents without a brain, to measure tasks by: one waits, one says "done", one is a monkey."""

from __future__ import annotations

import random
import string
from collections.abc import Sequence

from distrl.records import (
    Action,
    Back,
    Decision,
    Done,
    Enter,
    Home,
    LongPress,
    Observation,
    Swipe,
    Tap,
    TypeText,
    Wait,
)


class IdlePolicy:
    """Waits."""

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        return [Decision(Wait())] * len(observations)


class DonePolicy:
    """Says that the task is done."""

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        return [Decision(Done())] * len(observations)


class MonkeyPolicy:
    """Does anything anywhere: mostly taps, some swipes, keys and words."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(f"monkey/{seed}")

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        return [Decision(self.act()) for _ in observations]

    def act(self) -> Action:
        draw = self._random
        kind = draw.choices(
            ("tap", "swipe", "hold", "type", "back", "home", "enter", "wait"),
            (70, 14, 4, 4, 4, 1, 2, 1),
        )[0]
        match kind:
            case "tap":
                return Tap(draw.random(), draw.random())
            case "swipe":
                seconds = draw.uniform(0.1, 1.0)
                points = (draw.random(), draw.random(), draw.random(), draw.random())
                return Swipe(*points, seconds)
            case "hold":
                return LongPress(draw.random(), draw.random())
            case "type":
                return TypeText("".join(draw.choices(string.ascii_lowercase + " ", k=6)))
            case "back":
                return Back()
            case "home":
                return Home()
            case "enter":
                return Enter()
            case _:
                return Wait()
