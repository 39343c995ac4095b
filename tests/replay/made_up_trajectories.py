"""Small trajectories with screens of a few pixels, for tests that need many of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from distrl.records import Decision, Done, Ending, Screen, Task, Trajectory, Verdict

TASK = Task("made.up/train/1", "Do it", "general", "made.up", "train", 1, (), "easy", 10)


def screen(number: int) -> Screen:
    """Different numbers, different pixels; noise, so that it does not pack to nothing."""
    rng = np.random.default_rng(number)
    return Screen(rng.integers(0, 256, (12, 8, 3), dtype=np.uint8))


def trajectory(
    name: str,
    screens: Sequence[int] = (0, 1),
    ending: Ending = Ending.SUCCESS,
    tokens: int = 0,
) -> Trajectory:
    """One whose screens are those of the given numbers, with a decision between each two."""
    decision = Decision(Done(), "done", tuple(range(tokens)), (-0.5,) * tokens)
    verdict = Verdict(ending is Ending.SUCCESS, "", "made up") if ending.judged else None
    return Trajectory(
        id=name,
        task=TASK,
        decisions=(decision,) * (len(screens) - 1),
        screens=tuple(screen(number) for number in screens),
        ending=ending,
        verdict=verdict,
        device_seconds=1.0,
    )
