"""The moves that scripted solutions are written in.

A move names what to reach, not where it is: the solver finds it on the screen, scrolls to it, and
deals with pop-ups on the way. A solution that ends without `Say` ends with "done".
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Open:
    """Bring an app to the front, by its icon on the home screen or in the drawer."""

    app: str


@dataclass(frozen=True, slots=True)
class Press:
    """Tap what bears this label. `detail` and `role` choose among several; `nth` among the rest."""

    label: str
    role: str | None = None
    detail: str | None = None
    nth: int = 0


@dataclass(frozen=True, slots=True)
class Hold:
    """Press long on what bears this label."""

    label: str
    role: str | None = None
    detail: str | None = None
    nth: int = 0


@dataclass(frozen=True, slots=True)
class Fill:
    """Make a text field hold this text: focus it, clear what else is in it, type."""

    field: str
    text: str


@dataclass(frozen=True, slots=True)
class Toggle:
    """Make a switch, check box or radio button have this state."""

    label: str
    on: bool
    role: str | None = None


@dataclass(frozen=True, slots=True)
class Slide:
    """Set a slider to a share in [0, 1]."""

    label: str
    share: float


@dataclass(frozen=True, slots=True)
class Submit:
    """Press Enter in the focused field."""


@dataclass(frozen=True, slots=True)
class GoBack:
    """Press Back."""


@dataclass(frozen=True, slots=True)
class GoHome:
    """Press Home."""


@dataclass(frozen=True, slots=True)
class PullShade:
    """Pull down the quick settings."""


@dataclass(frozen=True, slots=True)
class Reveal:
    """Scroll until something with this label can be seen."""

    label: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait for some seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the user something."""

    question: str


@dataclass(frozen=True, slots=True)
class Say:
    """Answer a question; this ends the task."""

    text: str


Move = (
    Open
    | Press
    | Hold
    | Fill
    | Toggle
    | Slide
    | Submit
    | GoBack
    | GoHome
    | PullShade
    | Reveal
    | Pause
    | Ask
    | Say
)
