"""Walks over what stands on a screen: they leave the phone and held-out apps alone."""

from __future__ import annotations

import random

from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.grounding import LEAVING, Grounding, Walk
from phonesim.tasks.moves import Fill, Open, Press, Say, Toggle


def walks(count: int, seed: int = 0) -> list[Walk]:
    device = SimulatedDevice("grounded")
    device.reset(seed)
    grounding = Grounding(device, random.Random(seed))
    return [walk for _ in range(count) if (walk := grounding.walk())]


def test_it_leaves_the_phone_as_it_was() -> None:
    device = SimulatedDevice("grounded")
    device.reset(3)
    before = device.phone.frame().copy()
    assert Grounding(device, random.Random(1)).walk() is not None
    assert (device.phone.frame() == before).all()


def test_a_sentence_names_what_is_done_last() -> None:
    for walk in walks(40):
        last = walk.moves[-1]
        if isinstance(last, Press) and last.role is None:
            assert last.label in walk.instruction
        if isinstance(last, Fill):
            assert last.field in walk.instruction
            assert last.text in walk.instruction
        if isinstance(last, Toggle):
            assert last.label in walk.instruction
            assert ("off" in walk.instruction or "disable" in walk.instruction.lower()) or last.on


def test_many_kinds_of_walks_come() -> None:
    kinds = {type(move) for seed in range(4) for each in walks(40, seed) for move in each.moves}
    assert kinds >= {Open, Press, Fill, Toggle, Say}


def test_held_out_apps_are_not_walked_into() -> None:
    for walk in walks(120, seed=5):
        named = {move.app for move in walk.moves if isinstance(move, Open)}
        named |= {move.label for move in walk.moves if isinstance(move, Press)}
        assert not named & LEAVING


def test_the_same_seed_makes_the_same_walks() -> None:
    assert walks(10, 2) == walks(10, 2)
