"""Letterboxing: fits a screen of any size into a picture of one size, aspect ratio kept, with bars.

For models that read pictures of one size only. Points on the screen then differ from points on the
picture, so every action is converted: in prompts (`to_picture`) and in answers (`to_screen`).
Records store the original screen and the action on it; the picture is drawn again whenever it is
needed, always the same. A screen of the picture's size has no letterbox (`None`): its pixels and
places are not changed at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from distrl.agent.dialects.dialect import ImageSize
from distrl.errors import InvalidAction, UsageError
from distrl.records import (
    Action,
    DoubleTap,
    DragAndDrop,
    LongPress,
    Pinch,
    Pixels,
    Swipe,
    Tap,
)

MAX_SCALE = 2  # largest enlargement; screens that need more have letters of a few pixels
MIN_FILLED = 0.5  # least fraction of the picture; in a 1:2 picture, aspects from 1:1 to 1:4
# Pixels of the picture: just below half a cell of the compact dialect. A cell that shows part of
# the screen but has its middle in a bar counts as the screen's edge.
EDGE = 4.99

Place = tuple[float, float]  # fractions of width and height, from the top left corner


@dataclass(frozen=True, slots=True)
class Letterbox:
    """Where a screen lies in a picture: `left`, `top` and `size` in the picture's pixels."""

    picture: ImageSize
    left: int
    top: int
    size: ImageSize

    @classmethod
    def of(cls, screen: ImageSize, picture: ImageSize) -> Letterbox:
        """Centre the screen in the picture, as large as it fits."""
        scale = min(picture.width / screen.width, picture.height / screen.height)
        width, height = (max(1, round(side * scale)) for side in screen)
        left, top = (picture.width - width) // 2, (picture.height - height) // 2
        return cls(picture, left, top, ImageSize(width, height))

    def draw(self, pixels: Pixels, into: Pixels) -> None:
        """Write the picture of a screen; the bars are black."""
        from PIL import Image  # imported here, so that mapping places does not load Pillow

        into[...] = 0
        # Of Pillow's filters, the starter reads most words after this one; Lanczos is as good.
        resized = Image.fromarray(pixels).resize(self.size, Image.Resampling.BICUBIC)
        into[self.top : self.top + self.size.height, self.left : self.left + self.size.width] = (
            np.asarray(resized)
        )

    def to_picture(self, action: Action) -> Action:
        """Convert an action on the screen to one on the picture."""
        return moved(action, self.place_in_picture)

    def to_screen(self, action: Action) -> Action:
        """Convert an action on the picture to one on the screen; raise `InvalidAction` if it is
        on the bars.
        """
        return moved(action, self._place_on_screen)

    def place_in_picture(self, x: float, y: float) -> Place:
        return (
            (self.left + x * self.size.width) / self.picture.width,
            (self.top + y * self.size.height) / self.picture.height,
        )

    def _place_on_screen(self, x: float, y: float) -> Place:
        across = x * self.picture.width - self.left
        down = y * self.picture.height - self.top
        return _share(across, self.size.width, "x"), _share(down, self.size.height, "y")


def fitted(screen: ImageSize, picture: ImageSize, reader: str, advice: str) -> Letterbox | None:
    """Return the letterbox for a screen, or None if the sizes are equal. Raise `UsageError` if the
    screen would be unreadable; the message names `reader` and gives `advice`.
    """
    if screen == picture:
        return None
    letterbox = Letterbox.of(screen, picture)
    least = ImageSize(picture.width // MAX_SCALE, picture.height // MAX_SCALE)
    if screen.width < least.width or screen.height < least.height:
        lost = f"below {least.width} × {least.height} there is too little to enlarge"
    elif (share := filled(screen, picture)) < MIN_FILLED:
        lost = f"scaled to fit it would fill {share:.0%} of that, less than half"
    else:
        return letterbox
    raise UsageError(
        f"{reader} reads {picture.width} × {picture.height} pixels, and this one has "
        f"{screen.width} × {screen.height}: {lost}. For such screens {advice}"
    )


def filled(screen: ImageSize, picture: ImageSize) -> float:
    """Return the fraction of the picture that is not bars."""
    aspect = (screen.width / screen.height) / (picture.width / picture.height)
    return min(aspect, 1 / aspect)


def moved(action: Action, move: Callable[[float, float], Place]) -> Action:
    """Return the action with `move` applied to its places; one without places as it is."""
    match action:
        case Tap() | LongPress() | DoubleTap() | Pinch():
            x, y = move(action.x, action.y)
            return replace(action, x=x, y=y)
        case Swipe() | DragAndDrop():
            x, y = move(action.x, action.y)
            to_x, to_y = move(action.to_x, action.to_y)
            return replace(action, x=x, y=y, to_x=to_x, to_y=to_y)
        case _:
            return action


def _share(pixels: float, side: int, name: str) -> float:
    if not -EDGE < pixels < side + EDGE:
        raise InvalidAction(
            f"{name} is {pixels:.0f} of {side} pixels that the screen has in the picture: a place "
            "on the bars beside it"
        )
    return min(max(pixels / side, 0.0), 1.0)
