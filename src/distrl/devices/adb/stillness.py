"""Wait until the picture is still, instead of a fixed time that suits the slowest page.

After an action a phone may need a moment before anything moves, so a picture that equals the one
before the action counts as still only after `reaction_seconds`. The picture must also stay the same
for `quiet_seconds`. A page that never rests (a video, a blinking cursor in a large field) is not an
error: after `max_seconds` the current picture is used. A blank screen is retried for a while.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from distrl.bounds import Bounds, Fixed, Seconds, check_bounds
from distrl.errors import BlankScreen, InvalidSetting
from distrl.records import Pixels

Sleep = Callable[[float], None]
Now = Callable[[], float]


@dataclass(frozen=True, slots=True)
class StillnessSettings:
    """How long to watch the picture. The defaults suit handsets; use zeros for phones that draw
    at once.
    """

    reaction_seconds: Annotated[
        float, Bounds(0.0, 600.0, "seconds in which something begins to move, if it does")
    ] = 0.4
    quiet_seconds: Annotated[float, Bounds(0.0, 600.0, "seconds without a change")] = 0.2
    max_seconds: Annotated[
        float, Bounds(0.0, 600.0, "seconds, then the picture is taken as it is")
    ] = 8.0
    changed_share: Annotated[
        float,
        Bounds(0.0, 0.999, "of the picture"),
        Fixed("a change of less than a thousandth of the picture is a clock or a cursor"),
    ] = 0.001
    look_every_seconds: Annotated[
        Seconds, Fixed("a look every 20 ms costs little, and a slow picture sets its own pace")
    ] = 0.02

    def __post_init__(self) -> None:
        check_bounds(self)
        times = (self.reaction_seconds, self.quiet_seconds, self.look_every_seconds)
        if max(times) > self.max_seconds:
            raise InvalidSetting(
                f"reaction_seconds={self.reaction_seconds}, quiet_seconds={self.quiet_seconds}, "
                f"look_every_seconds={self.look_every_seconds}, max_seconds="
                f"{self.max_seconds}; none may be longer than max_seconds"
            )


AT_ONCE = StillnessSettings(reaction_seconds=0.0, quiet_seconds=0.0, look_every_seconds=0.0)


def settled_picture(
    take: Callable[[], Pixels],
    before: Pixels | None,
    settings: StillnessSettings,
    now: Now = time.monotonic,
    sleep: Sleep = time.sleep,
) -> Pixels:
    """Return the first still picture, or the last one taken within `max_seconds`."""
    begun = now()
    reacted = before is None
    picture, same_since = take(), now()
    while True:
        time_is_up = now() - begun >= settings.max_seconds
        reacted = reacted or differs(before, picture, settings.changed_share)
        waited_enough = reacted or now() - begun >= settings.reaction_seconds
        if time_is_up or (waited_enough and now() - same_since >= settings.quiet_seconds):
            return picture
        looked = now()
        following = take()
        if differs(picture, following, settings.changed_share):
            same_since = now()
        picture = following
        sleep(max(0.0, settings.look_every_seconds - (now() - looked)))


def lit_picture(
    take: Callable[[], Pixels],
    before: Pixels | None,
    settings: StillnessSettings,
    *,
    device: str,  # its name, for the message
    blank_seconds: float,
    wake: Callable[[], None] = lambda: None,  # the screen may have gone to sleep
) -> Pixels:
    """Return a still picture that is not blank; raise `BlankScreen` after `blank_seconds`."""
    picture = settled_picture(take, before, settings)
    if not is_blank(picture):
        return picture
    begun = time.monotonic()
    wake()
    while is_blank(picture):
        if time.monotonic() - begun > blank_seconds:
            raise BlankScreen(
                f"device {device}: the screen stayed of one colour for "
                f"{blank_seconds:g} s; an app may forbid pictures of itself"
            )
        picture = settled_picture(take, None, settings)
    return picture


def differs(one: Pixels | None, other: Pixels, share: float) -> bool:
    """Return whether more than this share of the picture changed; another size counts as change."""
    if one is None or one.shape != other.shape:
        return True
    return bool(np.count_nonzero(one != other) > share * one.size)


def is_blank(picture: Pixels) -> bool:
    """Return whether the picture has one colour: off, not drawn yet, or protected from capture."""
    color = picture[0, 0]
    if (picture[::16, ::16] != color).any():  # decides nearly always, at a hundredth of the cost
        return False
    return not (picture != color).any()
