"""A picture is taken when it is still, and never waited for without an end."""

from __future__ import annotations

import numpy as np
import pytest

from distrl.devices.adb.stillness import (
    AT_ONCE,
    StillnessSettings,
    differs,
    is_blank,
    settled_picture,
)
from distrl.errors import InvalidSetting
from distrl.records import Pixels

SETTINGS = StillnessSettings(
    reaction_seconds=0.4, quiet_seconds=0.2, max_seconds=3.0, look_every_seconds=0.05
)


def flat(value: int) -> Pixels:
    return np.full((20, 10, 3), value, np.uint8)


class Recording:
    """Shows a picture for every moment; looking takes 0.01 s of its own time."""

    def __init__(self, changes: dict[float, int], ever_after: bool = False) -> None:
        self.changes = changes
        self.ever_after = ever_after
        self.now = 0.0
        self.looks = 0

    def take(self) -> Pixels:
        self.looks += 1
        self.now += 0.01
        if self.ever_after:
            return flat(self.looks % 200)
        return flat([value for begin, value in self.changes.items() if begin <= self.now][-1])

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def settle(self, before: Pixels | None, settings: StillnessSettings = SETTINGS) -> Pixels:
        return settled_picture(self.take, before, settings, lambda: self.now, self.sleep)


def test_a_page_that_moves_is_waited_for() -> None:
    recording = Recording({0.0: 1, 0.1: 2, 0.3: 3, 0.6: 4})
    recording.changes |= {0.45: 5}
    recording.changes = dict(sorted(recording.changes.items()))
    assert recording.settle(flat(1))[0, 0, 0] == 4
    assert 0.8 <= recording.now < 1.0


def test_a_phone_that_has_not_reacted_yet_is_not_taken_for_still() -> None:
    recording = Recording({0.0: 1, 0.35: 2})
    assert recording.settle(flat(1))[0, 0, 0] == 2


def test_an_action_without_effect_costs_the_reaction_time_alone() -> None:
    recording = Recording({0.0: 1})
    assert recording.settle(flat(1))[0, 0, 0] == 1
    assert 0.4 <= recording.now < 0.6


def test_a_still_screen_is_seen_at_once_when_nothing_was_done() -> None:
    recording = Recording({0.0: 1})
    recording.settle(None)
    assert recording.now < 0.4


def test_a_page_that_never_rests_is_taken_when_the_time_is_up() -> None:
    recording = Recording({}, ever_after=True)
    recording.settle(flat(250))
    assert 3.0 <= recording.now < 3.2


def test_a_phone_that_draws_at_once_needs_one_look() -> None:
    recording = Recording({0.0: 1})
    recording.settle(flat(0), AT_ONCE)
    assert recording.looks == 1


def test_a_cursor_is_no_change_and_a_turn_is() -> None:
    blinking = np.zeros((100, 100, 3), np.uint8)
    blinking[0, :5] = 255
    assert not differs(np.zeros((100, 100, 3), np.uint8), blinking, 0.001)
    assert differs(np.zeros((100, 100, 3), np.uint8), blinking, 0.0001)
    assert differs(np.zeros((100, 50, 3), np.uint8), np.zeros((50, 100, 3), np.uint8), 0.5)


def test_a_screen_of_one_colour_is_blank() -> None:
    assert is_blank(flat(0))
    assert is_blank(flat(255))
    picture = flat(255)
    picture[3, 3, 1] = 0
    assert not is_blank(picture)


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InvalidSetting, match="quiet_seconds=9"):
        StillnessSettings(quiet_seconds=9.0)
    with pytest.raises(InvalidSetting, match="changed_share"):
        StillnessSettings(changed_share=1.0)
