"""A policy that is not shown the screen, or not told the instruction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from distrl.agent.simple_policies import BlankedPolicy
from distrl.records import Decision, Done, Observation, Screen, Wait

BRIGHT = Screen(np.full((4, 2, 3), 200, dtype=np.uint8))
SHOWN = Observation("Open the notes", BRIGHT, (Wait(),), (BRIGHT, BRIGHT))


class Witness:
    """Keeps what it is shown."""

    def __init__(self) -> None:
        self.seen: list[Observation] = []

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        self.seen.extend(observations)
        return [Decision(Done(), text=observation.instruction) for observation in observations]


def test_without_the_screen_all_pictures_are_black_and_the_rest_is_there() -> None:
    witness = Witness()
    [decision] = BlankedPolicy(witness, "screen").decide([SHOWN])
    [seen] = witness.seen
    assert decision.text == seen.instruction == "Open the notes"
    assert seen.past_actions == SHOWN.past_actions
    assert len(seen.past_screens) == 2
    for screen in (seen.screen, *seen.past_screens):
        assert screen.pixels.shape == (4, 2, 3)
        assert not screen.pixels.any()
    assert BRIGHT.pixels.all()


def test_without_the_instruction_the_screens_are_there() -> None:
    witness = Witness()
    BlankedPolicy(witness, "instruction").decide([SHOWN, SHOWN])
    assert [seen.instruction for seen in witness.seen] == ["", ""]
    assert witness.seen[0].screen is BRIGHT
