"""Trajectories of every shape that can be, for property tests, and what makes two of them equal."""

from __future__ import annotations

import dataclasses
from typing import get_args

import numpy as np
from hypothesis import strategies as st

from distrl.records import (
    FAMILIES,
    SPLITS,
    Action,
    Branch,
    Decision,
    DoubleTap,
    DragAndDrop,
    Ending,
    LongPress,
    Pinch,
    Screen,
    Swipe,
    Tap,
    Task,
    Trajectory,
    Verdict,
    Wait,
)

# Everything that Python calls text: no half of a surrogate pair is left out.
TEXT = st.text(st.characters(exclude_categories=()), max_size=12)
SHARES = st.floats(0.0, 1.0)
PROGRESS = st.none() | SHARES
TEXTS = st.lists(TEXT, max_size=2).map(tuple)
WITH_NUMBERS: dict[type, st.SearchStrategy[Action]] = {
    Tap: st.builds(Tap, SHARES, SHARES),
    LongPress: st.builds(LongPress, SHARES, SHARES),
    Swipe: st.builds(Swipe, SHARES, SHARES, SHARES, SHARES, st.floats(0.01, 10.0)),
    DoubleTap: st.builds(DoubleTap, SHARES, SHARES),
    DragAndDrop: st.builds(DragAndDrop, SHARES, SHARES, SHARES, SHARES),
    Pinch: st.builds(Pinch, SHARES, SHARES, st.floats(0.1, 10.0)),
    Wait: st.builds(Wait, st.floats(0.0, 600.0)),
}
ACTIONS: st.SearchStrategy[Action] = st.sampled_from(get_args(Action)).flatmap(
    lambda kind: (
        WITH_NUMBERS[kind]
        if kind in WITH_NUMBERS
        else st.builds(kind, *[TEXT for _ in dataclasses.fields(kind)])
    )
)
DECISIONS = st.builds(
    Decision,
    action=ACTIONS,
    text=TEXT,
    token_ids=st.lists(st.integers(-(2**70), 2**70), max_size=4).map(tuple),
    log_probs=st.lists(st.floats(), max_size=4).map(tuple),
    weight_version=st.integers(0, 2**40),
)
TASKS = st.builds(
    Task,
    id=TEXT,
    instruction=TEXT,
    family=st.sampled_from(FAMILIES),
    template=TEXT,
    split=st.sampled_from(SPLITS),
    seed=st.integers(),
    apps=st.lists(TEXT, max_size=3).map(tuple),
    difficulty=st.sampled_from(["easy", "medium", "hard"]),
    step_limit=st.integers(1, 100),
)


@st.composite
def trajectories(draw: st.DrawFn) -> Trajectory:
    """Any number of decisions, odd text, numbers that are none, screens that come again."""
    decisions = draw(st.lists(DECISIONS, max_size=4))
    numbers = draw(
        st.lists(st.integers(0, 2), min_size=1 + len(decisions), max_size=1 + len(decisions))
    )
    sides = [draw(st.tuples(st.integers(1, 5), st.integers(1, 5))) for _ in range(3)]
    return Trajectory(
        id=draw(TEXT),
        task=draw(TASKS),
        decisions=tuple(decisions),
        screens=tuple(_screen(number, *sides[number]) for number in numbers),
        ending=draw(st.sampled_from(Ending)),
        verdict=draw(
            st.none() | st.builds(Verdict, st.booleans(), TEXT, TEXT, PROGRESS, TEXTS, TEXTS)
        ),
        device_seconds=draw(st.floats()),
        notes=tuple(draw(st.lists(TEXT, max_size=2))),
        branch=draw(st.none() | st.builds(Branch, TEXT, st.integers(0, len(decisions)))),
        environment=draw(TEXT),
    )


def _screen(seed: int, height: int, width: int) -> Screen:
    rng = np.random.default_rng(seed)
    return Screen(rng.integers(0, 256, (height, width, 3), dtype=np.uint8))


def what_it_is(trajectory: Trajectory) -> tuple[str, list[tuple[tuple[int, ...], bytes]]]:
    """All of it as something that can be compared; `repr` also tells 0.0, −0.0 and NaN apart."""
    names = [each.name for each in dataclasses.fields(Trajectory) if each.name != "screens"]
    screens = [(screen.pixels.shape, screen.pixels.tobytes()) for screen in trajectory.screens]
    return repr([getattr(trajectory, name) for name in names]), screens
